import { Type } from 'typebox';
import { clientNamed } from '../client-named.ts';
import type { Call, Resource } from '../endpoint.ts';
import { defineEndpoint } from '../endpoint.ts';
import { nothing } from '../http/fields.ts';
import { forbidden, notFound, Refusal } from '../http/refusal.ts';
import { copyKlip } from '../klip-copy.ts';
import { type Klip, klipAsShared, klipById } from '../store/klips.ts';
import { administers, canSee, sharedWithGroupOf } from '../store/shares.ts';

/** Here, and only here, a Klip that exists but is not the caller's to see answers 401. */
function findImportable({ parts, account, caller, params }: Call): Klip {
  const klip = klipById(parts.db, params.id!);
  if (klip === undefined) throw notFound(`Klip not found: ${params.id}`);
  const asset = klipAsShared(klip);
  if (klip.accountId !== account.id || !canSee(parts.db, asset, caller)) {
    throw new Refusal('permission_denied', 'The Klip is not shared with you');
  }
  if (!administers(caller, 'klip') && !sharedWithGroupOf(parts.db, asset, caller.user.id)) {
    throw forbidden('The Klip is not shared with a group of yours');
  }
  return klip;
}

const resource: Resource = {
  name: 'klip-import',
  summary: 'Giving a client a Klip',
  endpoints: [
    defineEndpoint({
      method: 'POST',
      path: '/klips/{id}/@/import',
      summary: 'Copies a Klip and its data sources, without their data, into a client account',
      basis: 'document',
      permission: ['klip.import'],
      client: false,
      body: { client_id: Type.String({ minLength: 1 }) },
      answer: { status: 201, data: nothing },
      find: (call) => findImportable(call),
      do: (call, klip) => {
        const client = clientNamed(call.parts, call.caller, call.body.client_id);
        return { meta: { location: `/klips/${copyKlip(call, klip, client.id)}` } };
      },
    }),
  ],
};
export default resource;
