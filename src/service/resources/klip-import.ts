import { Type } from 'typebox';
import { clientNamed } from '../client-named.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { notFound } from '../http/api-error.ts';
import { requested } from '../http/fields.ts';
import { notShared, requireImportable } from '../import-rules.ts';
import { copyKlip } from '../klip-copy.ts';
import { type Klip, klipAsShared, klipById } from '../store/klips.ts';

function findImportable(call: ApiCall): Klip {
  const klip = klipById(call.context.db, call.params.id!);
  if (klip === undefined) throw notFound(`Klip not found: ${call.params.id}`);
  if (klip.accountId !== call.account.id) throw notShared('The Klip');
  requireImportable(call, klipAsShared(klip), 'The Klip');
  return klip;
}

export default {
  name: 'klip-import',
  summary: 'Importing a Klip into a client account',
  endpoints: [
    defineEndpoint({
      id: 'importKlip',
      method: 'POST',
      path: '/klips/{id}/@/import',
      summary: 'Copies a Klip and its data sources, without their data, into a client account',
      basis: 'document',
      decided: 'copies data sources without their data',
      permission: ['klip.import'],
      client: false,
      body: { client_id: Type.String({ minLength: 1 }) },
      answer: { status: 201, data: requested('import') },
      find: (call) => findImportable(call),
      do: (call, klip) => {
        const client = clientNamed(call.context, call.caller, call.body.client_id);
        return { meta: { location: `/klips/${copyKlip(call, klip, client.id)}` }, data: { op_requested: 'import' } };
      },
    }),
  ],
} satisfies Resource;
