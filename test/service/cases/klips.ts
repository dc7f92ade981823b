import { badChanges, badNews, badPages, type Cases } from '../case.ts';
import type { Bench, Envelope } from '../service.ts';

const lastOf = ({ meta }: Envelope): string => meta.location!.split('/').at(-1)!;
const klip = async (given: Bench): Promise<Record<string, string>> => ({
  id: lastOf((await given.call('POST', '/klips', { body: { name: 'Sales' } })).body),
});
const sharedKlip = async (given: Bench): Promise<Record<string, string>> => {
  const { id } = await klip(given);
  await given.call('PUT', `/klips/${id}/share-rights`, { body: { groups: [{ group_id: 'acme-team' }] } });
  return { id: id! };
};
const annotated = async (given: Bench): Promise<Record<string, string>> => {
  const { id } = await klip(given);
  const answer = await given.call('POST', `/klips/${id}/annotations`, { body: { body: 'A dip' } });
  return { id: id!, annotation: lastOf(answer.body) };
};

const badSchemas = [
  { schema: {}, field: 'title' },
  { schema: { title: 'A' }, field: 'components' },
  { schema: { title: 7, components: [] }, field: 'title' },
  { schema: { title: null, components: [] }, field: 'title' },
  { schema: { title: 'A', components: {} }, field: 'components' },
  { schema: { title: 'A', components: ['label'] }, field: 'components.0' },
  { schema: { title: 'A', components: [{}] }, field: 'components.0.type' },
  { schema: { title: 'A', components: [{ type: 1 }] }, field: 'components.0.type' },
  {
    schema: { title: 'A', components: [{ type: 'a', components: [{ type: 'b' }, { type: null }] }] },
    field: 'components.0.components.1.type',
  },
  { schema: { title: 'A', components: [{ type: 'a', components: 'b' }] }, field: 'components.0.components' },
  { schema: { title: 'A', components: [{ type: 'a', components: [null] }] }, field: 'components.0.components.0.type' },
  { schema: { title: 'A', components: [], workspace: [] }, field: 'workspace' },
  { schema: { title: 'A', components: [], workspace: { datasources: 'x' } }, field: 'workspace.datasources' },
  { schema: { title: 'A', components: [], workspace: { datasources: [1] } }, field: 'workspace.datasources.0' },
  { schema: { title: 'A', components: [], workspace: { datasources: ['unknown'] } }, field: 'workspace.datasources' },
];
const badShares = [
  { body: {}, field: 'groups' },
  { body: { groups: 'acme-team' }, field: 'groups' },
  { body: { groups: [{}] }, field: 'groups.0.group_id' },
  { body: { groups: [{ group_id: 7 }] }, field: 'groups.0.group_id' },
  { body: { groups: [{ group_id: 'acme-team', can_edit: 'yes' }] }, field: 'groups.0.can_edit' },
  { body: { groups: [], users: [{}] }, field: 'users.0.user_id' },
];
const badTexts = [
  { body: { body: '' }, field: 'body' },
  { body: { body: ' \n' }, field: 'body' },
  { body: { body: 7 }, field: 'body' },
  { body: { body: 'x'.repeat(10_001) }, field: 'body' },
];

const cases: Cases = {
  'GET /klips': { bad: [...badPages, { query: 'datasource_id=', field: 'datasource_id' }] },
  'GET /klips/{id}': { prepare: klip, query: 'full=true', bad: [{ query: 'full=1', field: 'full' }] },
  'GET /klips/{id}/client-instances': { prepare: klip, bad: badPages },
  'POST /klips': {
    body: {
      name: 'A',
      description: null,
      extra: 1,
      schema: { title: '', components: [{ type: 'label', components: null }], workspace: { datasources: [] } },
    },
    bad: [
      ...badNews,
      { body: { name: 'A', schema: 'x' }, field: 'schema' },
      ...badSchemas.map(({ schema, field }) => ({ body: { name: 'A', schema }, field: `schema.${field}` })),
    ],
  },
  'PUT /klips/{id}': {
    prepare: klip,
    body: { name: 'B' },
    bad: badChanges,
  },
  'DELETE /klips/{id}': { prepare: klip },
  'GET /klips/{id}/schema': { prepare: klip },
  'PUT /klips/{id}/schema': {
    prepare: klip,
    body: { title: 'A', components: [] },
    bad: badSchemas.map(({ schema, field }) => ({ body: schema, field })),
  },
  'GET /klips/{id}/share-rights': { prepare: sharedKlip },
  'PUT /klips/{id}/share-rights': {
    prepare: klip,
    body: { groups: [{ group_id: 'acme-team', can_edit: true }] },
    bad: badShares,
  },
  'DELETE /klips/{id}/share-rights': {
    prepare: sharedKlip,
    body: { groups: [{ group_id: 'acme-team', can_edit: true }] },
    bad: badShares,
  },
  // A Go client that takes Klips for data sources removes their share rights like this.
  'DELETE /klips/{id}/share-rights/{holder}': {
    prepare: async (given) => ({ ...(await sharedKlip(given)), holder: 'acme-team' }),
    bad: [{ query: 'type=role', field: 'type' }],
  },
  'POST /klips/{id}/@/import': {
    prepare: klip,
    body: { client_id: 'bakery' },
    bad: [
      { body: {}, field: 'client_id' },
      { body: { client_id: null }, field: 'client_id' },
      { body: { client_id: '' }, field: 'client_id' },
      { body: { client_id: 7 }, field: 'client_id' },
    ],
  },
  'GET /klips/{id}/annotations': {
    prepare: annotated,
    query: 'start_date=0&end_date=4000000000',
    bad: [
      ...badPages,
      { query: 'start_date=yesterday', field: 'start_date' },
      { query: 'start_date=-1', field: 'start_date' },
      { query: 'end_date=1.5', field: 'end_date' },
      { query: 'start_date=2&end_date=1', field: 'start_date' },
    ],
  },
  'GET /klips/{id}/annotations/{annotation}': { prepare: annotated },
  'POST /klips/{id}/annotations': {
    prepare: klip,
    body: { body: 'A dip' },
    bad: [{ body: {}, field: 'body' }, { body: { body: null }, field: 'body' }, ...badTexts],
  },
  'PUT /klips/{id}/annotations/{annotation}': { prepare: annotated, body: { body: 'A rise' }, bad: badTexts },
  'DELETE /klips/{id}/annotations/{annotation}': { prepare: annotated },
};
export default cases;
