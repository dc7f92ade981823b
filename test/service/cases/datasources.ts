import { badPages, type Cases } from '../case.ts';
import type { Bench } from '../service.ts';

const withProperty = async (given: Bench) => ({ id: await given.source({ properties: { a: '1' } }) });
const source = async (given: Bench): Promise<Record<string, string>> => ({ id: await given.source() });
const withData = async (given: Bench): Promise<Record<string, string>> => {
  const id = await given.source();
  await given.call('PUT', `/datasources/${id}/data`, { body: '[1]' });
  return { id };
};

const cases: Cases = {
  'GET /datasources': { bad: badPages },
  'GET /datasources/{id}': { prepare: source, query: 'full=true', bad: [{ query: 'full=1', field: 'full' }] },
  'POST /datasources': {
    example: { name: 'Orders', description: 'Orders of the day', format: 'csv', no_refresh: true },
    body: {
      name: 'A',
      format: 'csv',
      connector: 'Google_Drive',
      refresh_interval: 172_800,
      properties: { a: 'b' },
      extra: 1,
      description: null,
    },
    bad: [
      { body: {}, field: 'name' },
      { body: { name: null }, field: 'name' },
      { body: { name: ' ' }, field: 'name' },
      { body: { name: 7 }, field: 'name' },
      { body: { name: 'A', format: 'pdf' }, field: 'format' },
      { body: { name: 'A', connector: 'telepathy' }, field: 'connector' },
      { body: { name: 'A', refresh_interval: 61 }, field: 'refresh_interval' },
      { body: { name: 'A', refresh_interval: '60' }, field: 'refresh_interval' },
      { body: { name: 'A', refresh_interval: -86_400 }, field: 'refresh_interval' },
      { body: { name: 'A', refresh_interval: 86_401 }, field: 'refresh_interval' },
      { body: { name: 'A', properties: [] }, field: 'properties' },
      { body: { name: 'A', properties: { '': 'x' } }, field: 'properties' },
      { body: { name: 'A', no_refresh: 'maybe' }, field: 'no_refresh' },
    ],
  },
  'PUT /datasources/{id}': {
    prepare: source,
    body: { name: 'B' },
    bad: [
      { body: { name: '' }, field: 'name' },
      { body: { refresh_interval: 1 }, field: 'refresh_interval' },
    ],
  },
  'DELETE /datasources/{id}': { prepare: source },
  'POST /datasources/@/refresh': {
    body: { datasources: ['unknown'] },
    bad: [
      { body: {}, field: 'datasources' },
      { body: { datasources: 'x' }, field: 'datasources' },
      { body: { datasources: [1] }, field: 'datasources.0' },
      { body: { datasources: [] }, field: 'datasources' },
    ],
  },
  'POST /datasources/{id}/@/enable': { prepare: source },
  'POST /datasources/{id}/@/disable': { prepare: source, body: '' },
  'GET /datasources/{id}/share-rights': { prepare: source },
  'PUT /datasources/{id}/share-rights': {
    prepare: source,
    body: { groups: [{ group_id: 'acme-team', can_edit: true }] },
    bad: [
      { body: {}, field: 'groups' },
      { body: { groups: {} }, field: 'groups' },
      { body: { groups: [{}] }, field: 'groups.0.group_id' },
      { body: { groups: [{ group_id: 'acme-team', can_edit: 1 }] }, field: 'groups.0.can_edit' },
      { body: { groups: [], users: [{ can_edit: true }] }, field: 'users.0.user_id' },
    ],
  },
  'DELETE /datasources/{id}/share-rights': { prepare: source, refuses: 400 },
  'DELETE /datasources/{id}/share-rights/{holder}': {
    prepare: async (given) => {
      const id = await given.source();
      await given.call('PUT', `/datasources/${id}/share-rights`, { body: { groups: [{ group_id: 'acme-team' }] } });
      return { id, holder: 'acme-team' };
    },
    bad: [{ query: 'type=team', field: 'type' }],
  },
  'GET /datasource-instances': { bad: [...badPages, { query: 'datasource_id=', field: 'datasource_id' }] },
  'GET /datasource-instances/{id}': { prepare: source },
  'GET /datasource-instances/{id}/data': { prepare: withData },
  'GET /datasources/{id}/data': { prepare: withData },
  'PUT /datasource-instances/{id}/data': { prepare: source, body: '[1,2]' },
  'PUT /datasources/{id}/data': { prepare: source, body: '[1,2]' },
  'GET /datasource-instances/{id}/properties': { prepare: source },
  'PUT /datasource-instances/{id}/properties': {
    prepare: source,
    body: { properties: { endpoint_url: 'https://x.test' } },
    bad: [
      { body: {}, field: 'properties' },
      { body: { properties: 'a=b' }, field: 'properties' },
      { body: { properties: { ' ': 'b' } }, field: 'properties' },
    ],
  },
  'DELETE /datasource-instances/{id}/properties': {
    prepare: async (given) => ({ id: await given.source({ properties: { a: '1' } }) }),
    query: 'name=a',
    bad: [
      { query: '', field: 'name' },
      { query: 'name=', field: 'name' },
    ],
  },
  'POST /datasource-instances/{id}/@/refresh': { prepare: source, body: {} },
  'GET /datasources/{id}/properties': { prepare: withProperty },
  'PUT /datasources/{id}/properties': {
    prepare: withProperty,
    body: { properties: { endpoint_url: 'https://x.test/{props.region}', none: null } },
    bad: [
      { body: {}, field: 'properties' },
      { body: { properties: ['a'] }, field: 'properties' },
      { body: { properties: { '': 'b' } }, field: 'properties' },
      { body: { properties: { ['x'.repeat(256)]: 'b' } }, field: 'properties' },
    ],
  },
  'DELETE /datasources/{id}/properties': {
    prepare: withProperty,
    query: 'name=a',
    bad: [
      { query: '', field: 'name' },
      { query: 'name=', field: 'name' },
    ],
  },
  'POST /datasources/{id}/@/import': {
    prepare: withProperty,
    body: { client_id: 'bakery' },
    bad: [
      { body: {}, field: 'client_id' },
      { body: { client_id: '' }, field: 'client_id' },
      { body: { client_id: 7 }, field: 'client_id' },
    ],
  },
  'POST /datasources/{id}/@/delete_instances': {
    prepare: withProperty,
    query: 'last_access=4000000000',
    example: { last_access: 4_000_000_000 },
    bad: [
      { query: 'last_access=yesterday', field: 'last_access' },
      { body: { last_access: -1 }, query: '', field: 'last_access' },
    ],
  },
};
export default cases;
