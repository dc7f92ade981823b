import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { findEditableKlip, findKlip } from '../klip-rules.ts';
import { checkSchema, datasourcesOf, type Schema, schemaFields, schemaObject } from '../klip-schema.ts';
import { type Klip, schemaOf, setSchema, setUsedDatasources } from '../store/klips.ts';

const path = '/klips/{id}/schema';

/**
 * Replaces the Klip's schema with the whole body, except `client_id`, which only selects the account. Null fields count
 * as absent, as in every body.
 */
function replace(call: ApiCall, klip: Klip): void {
  const given = Object.entries(call.json).filter(([name, value]) => name !== 'client_id' && value !== null);
  const schema: Schema = Object.fromEntries(given);
  checkSchema(call, schema);
  const { db, clock } = call.context;
  db.durably(() => {
    setSchema(db, klip.id, { schema: JSON.stringify(schema), now: clock.now() });
    setUsedDatasources(db, klip.id, datasourcesOf(schema));
  });
}

export default {
  name: 'klip-schema',
  summary: 'The definition of a Klip: its appearance and data sources',
  endpoints: [
    defineEndpoint({
      id: 'getKlipSchema',
      method: 'GET',
      path,
      summary: 'The schema of a Klip',
      basis: 'document',
      missing: 'versions: only the latest one exists',
      permission: ['klip.edit'],
      answer: { status: 200, data: Type.Object({ schema: schemaObject }) },
      find: (call) => findKlip(call),
      do: ({ context }, klip) => ({ data: { schema: JSON.parse(schemaOf(context.db, klip.id)) as Schema } }),
    }),
    defineEndpoint({
      id: 'replaceKlipSchema',
      method: 'PUT',
      path,
      summary: 'Replaces the schema of a Klip; unknown members are kept',
      basis: 'document',
      decided: 'title and components are required; unknown members are kept',
      missing: 'checking components: formulas and types are neither validated nor evaluated',
      permission: ['klip.edit'],
      body: schemaFields,
      keepsUnknown: true,
      find: (call) => findEditableKlip(call),
      act: (call, klip) => replace(call, klip),
    }),
  ],
} satisfies Resource;
