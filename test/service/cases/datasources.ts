import type { Cases } from '../case.ts';
import type { Bench } from '../service.ts';

const source = async (given: Bench) => ({ id: await given.source({ properties: { a: '1' } }) });

const cases: Cases = {
  'GET /datasources/{id}/properties': { prepare: source },
  'PUT /datasources/{id}/properties': {
    prepare: source,
    body: { properties: { endpoint_url: 'https://x.test/{props.region}', none: null } },
    bad: [
      { body: {}, field: 'properties' },
      { body: { properties: ['a'] }, field: 'properties' },
      { body: { properties: { '': 'b' } }, field: 'properties' },
      { body: { properties: { ['x'.repeat(256)]: 'b' } }, field: 'properties' },
    ],
  },
  'DELETE /datasources/{id}/properties': {
    prepare: source,
    query: 'name=a',
    bad: [
      { query: '', field: 'name' },
      { query: 'name=', field: 'name' },
    ],
  },
  'POST /datasources/{id}/@/import': {
    prepare: source,
    body: { client_id: 'bakery' },
    bad: [
      { body: {}, field: 'client_id' },
      { body: { client_id: '' }, field: 'client_id' },
      { body: { client_id: 7 }, field: 'client_id' },
    ],
  },
  'POST /datasources/{id}/@/delete_instances': {
    prepare: source,
    query: 'last_access=4000000000',
    bad: [
      { query: 'last_access=yesterday', field: 'last_access' },
      { body: { last_access: -1 }, query: '', field: 'last_access' },
    ],
  },
};
export default cases;
