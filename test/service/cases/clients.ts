import { badPages, type Cases } from '../case.ts';
import type { Bench } from '../service.ts';

const client = async (given: Bench) => {
  const { body } = await given.call('POST', '/clients', { body: { name: 'Mill' } });
  return { id: body.meta.location!.split('/').at(-1)! };
};
const withProperty = async (given: Bench) => {
  const one = await client(given);
  await given.call('PUT', `/clients/${one.id}/properties`, { body: { properties: { tier: 'gold' } } });
  return one;
};
const shared = async (given: Bench) => {
  const one = { ...(await client(given)), group: 'acme-team' };
  const body = { groups: [{ group_id: one.group, can_manage: true }] };
  await given.call('PUT', `/clients/${one.id}/share-rights`, { body });
  return one;
};
const badClient = [
  { body: { name: '' }, field: 'name' },
  { body: { name: 7 }, field: 'name' },
  { body: { name: 'A', description: [] }, field: 'description' },
  { body: { name: 'A', external_id: 7 }, field: 'external_id' },
  { body: { name: 'A', seats: '5' }, field: 'seats' },
  { body: { name: 'A', seats: -2 }, field: 'seats' },
  { body: { name: 'A', seats: 1.5 }, field: 'seats' },
  { body: { name: 'A', status: 'sleeping' }, field: 'status' },
];
const perDay = (value: unknown) => ({ resources: [{ name: 'api.requests.perDay', value }] });

const cases: Cases = {
  'GET /clients': { bad: badPages },
  'GET /clients/{id}': { prepare: client, query: 'full=true', bad: [{ query: 'full=yes', field: 'full' }] },
  'POST /clients': {
    body: { name: 'Mill', description: null, seats: 3, extra: {} },
    bad: [{ body: {}, field: 'name' }, { body: { name: null }, field: 'name' }, ...badClient],
  },
  'PUT /clients/{id}': {
    prepare: client,
    body: { description: 'grinds' },
    bad: [...badClient, { body: { status: 'setup' }, field: 'status' }],
  },
  'DELETE /clients/{id}': { prepare: client },
  'POST /clients/{id}/@/extend_trial': { prepare: client },
  'POST /clients/{id}/@/enable_direct_billing': { prepare: client, body: '' },
  'GET /clients/{id}/resources': { prepare: client, bad: badPages },
  'PUT /clients/{id}/resources': {
    prepare: client,
    body: perDay(7),
    bad: [
      { body: {}, field: 'resources' },
      { body: { resources: { name: 'company.seats' } }, field: 'resources' },
      { body: { resources: [{ name: 'company.chairs', value: 1 }] }, field: 'resources.0.name' },
      { body: { resources: [{ name: 'company.seats' }] }, field: 'resources.0.value' },
      { body: perDay('7'), field: 'resources.0.value' },
      { body: perDay(0), field: 'resources.0.value' },
      { body: perDay(-1), field: 'resources.0.value' },
      { body: { resources: [{ name: 'company.seats', value: -2 }] }, field: 'resources.0.value' },
    ],
  },
  'GET /clients/{id}/share-rights': { prepare: shared },
  'PUT /clients/{id}/share-rights': {
    prepare: client,
    body: { groups: [{ group_id: 'acme-team', can_manage: true }] },
    bad: [
      { body: {}, field: 'groups' },
      { body: { groups: [{ can_manage: true }] }, field: 'groups.0.group_id' },
      { body: { groups: [{ group_id: 'acme-team', can_manage: 1 }] }, field: 'groups.0.can_manage' },
    ],
  },
  'DELETE /clients/{id}/share-rights/{group}': { prepare: shared },
  'GET /clients/{id}/settings': {
    prepare: async (given) => {
      const one = await client(given);
      await given.call('POST', `/clients/${one.id}/settings`, { body: { 'brand.parent.enabled': true } });
      return one;
    },
  },
  'POST /clients/{id}/settings': { prepare: client, body: { 'brand.parent.enabled': true } },
  'GET /clients/{id}/features': { prepare: client, bad: badPages },
  'PUT /clients/{id}/features': {
    prepare: client,
    body: { features: [{ name: 'sso', enabled: false }] },
    bad: [
      { body: {}, field: 'features' },
      { body: { features: [{ name: 'flying', enabled: true }] }, field: 'features.0.name' },
      { body: { features: [{ name: 'sso' }] }, field: 'features.0.enabled' },
      { body: { features: [{ name: 'sso', enabled: 1 }] }, field: 'features.0.enabled' },
    ],
  },
  'GET /clients/{id}/properties': { prepare: withProperty },
  'PUT /clients/{id}/properties': {
    prepare: client,
    body: { properties: { tier: 'gold', none: null } },
    bad: [
      { body: {}, field: 'properties' },
      { body: { properties: { tier: 7 } }, field: 'properties.tier' },
      { body: { properties: { '': 'x' } }, field: 'properties' },
    ],
  },
  'DELETE /clients/{id}/properties': {
    prepare: withProperty,
    query: 'name=tier',
    bad: [
      { query: '', field: 'name' },
      { query: 'name=', field: 'name' },
    ],
  },
};
export default cases;
