import { badPages, type Cases } from '../case.ts';
import type { Bench } from '../service.ts';

const made = async (given: Bench, path: string, body: object): Promise<string> =>
  (await given.call('POST', path, { body })).body.meta.location!.split('/').at(-1)!;

const group = async (given: Bench) => ({ id: await made(given, '/groups', { name: 'Sales' }) });
const role = async (given: Bench) => ({ id: await made(given, '/roles', { name: 'Pusher' }) });
const user = async (given: Bench) => ({ id: await made(given, '/users', { email: 'new@acme.test' }) });
const member = async (given: Bench) => {
  const pair = { id: (await group(given)).id, user: (await user(given)).id };
  await given.call('PUT', `/groups/${pair.id}/users/${pair.user}`);
  return pair;
};
const holder = async (given: Bench) => {
  const pair = { id: (await role(given)).id, user: (await user(given)).id };
  await given.call('PUT', `/roles/${pair.id}/users/${pair.user}`);
  return pair;
};
const withProperty = async (given: Bench) => {
  const one = await user(given);
  await given.call('PUT', `/users/${one.id}/properties`, { body: { properties: { region: 'north' } } });
  return one;
};

const badFull = [{ query: 'full=yes', field: 'full' }];
const badTexts = [
  { body: { name: '' }, field: 'name' },
  { body: { name: 7 }, field: 'name' },
  { body: { name: 'x'.repeat(256) }, field: 'name' },
  { body: { name: 'A', description: {} }, field: 'description' },
];
const badGroup = [...badTexts, { body: { name: 'A', external_id: 7 }, field: 'external_id' }];
const badRole = [
  ...badTexts,
  { body: { name: 'A', permissions: 'klip.edit' }, field: 'permissions' },
  { body: { name: 'A', permissions: ['klip.edit', 'klip.sell'] }, field: 'permissions.1' },
];
const badUser = [
  { body: { email: 'nobody' }, field: 'email' },
  { body: { email: 'a@x.test', first_name: 7 }, field: 'first_name' },
  { body: { email: 'a@x.test', last_name: [] }, field: 'last_name' },
  { body: { email: 'a@x.test', password: '' }, field: 'password' },
  { body: { email: 'a@x.test', external_id: 7 }, field: 'external_id' },
  { body: { email: 'a@x.test', roles: 'Admin' }, field: 'roles' },
  { body: { email: 'a@x.test', roles: [] }, field: 'roles' },
  { body: { email: 'a@x.test', roles: ['a', 'b'] }, field: 'roles' },
  { body: { email: 'ED@acme.test' }, field: 'email' },
];

const cases: Cases = {
  'GET /groups': { bad: badPages },
  'GET /groups/{id}': { prepare: group, query: 'full=true', bad: badFull },
  'POST /groups': {
    body: { name: 'Sales', description: null, external_id: 'crm-7', extra: [] },
    bad: [{ body: {}, field: 'name' }, ...badGroup, { body: { name: 'Team' }, field: 'name' }],
  },
  'PUT /groups/{id}': {
    prepare: group,
    body: { name: 'Sold' },
    bad: [...badGroup, { body: { name: 'Team' }, field: 'name' }],
  },
  'DELETE /groups/{id}': { prepare: group },
  'GET /groups/{id}/users': { prepare: member, bad: badPages },
  'PUT /groups/{id}/users/{user}': { prepare: member },
  'DELETE /groups/{id}/users/{user}': { prepare: member },
  'GET /roles': { bad: badPages },
  'GET /roles/{id}': { prepare: role, query: 'full=true', bad: badFull },
  'POST /roles': {
    body: { name: 'Builder', permissions: ['klip.build'], extra: 1 },
    bad: [{ body: {}, field: 'name' }, ...badRole, { body: { name: 'Editor' }, field: 'name' }],
  },
  'PUT /roles/{id}': {
    prepare: role,
    body: { permissions: ['klip.build'] },
    bad: [...badRole, { body: { name: 'Nobody' }, field: 'name' }],
  },
  'DELETE /roles/{id}': { prepare: role },
  'GET /roles/{id}/permissions': { prepare: role, bad: badPages },
  'PUT /roles/{id}/permissions': {
    prepare: role,
    body: { permissions: ['klip.build'] },
    bad: [{ body: {}, field: 'permissions' }, ...badRole.slice(-2)],
  },
  'DELETE /roles/{id}/permissions': {
    prepare: role,
    body: { permissions: ['klip.build'] },
    bad: [{ body: {}, field: 'permissions' }, ...badRole.slice(-2)],
  },
  'GET /roles/{id}/users': { prepare: holder, bad: badPages },
  'PUT /roles/{id}/users': { prepare: role, refuses: 400 },
  'DELETE /roles/{id}/users': { prepare: role, refuses: 400 },
  'PUT /roles/{id}/users/{user}': {
    prepare: async (given) => ({ ...(await role(given)), user: (await user(given)).id }),
  },
  'DELETE /roles/{id}/users/{user}': { prepare: holder },
  'GET /users': { bad: badPages },
  'GET /users/{id}': { prepare: user, query: 'full=true', bad: badFull },
  'POST /users': {
    body: { email: 'new@acme.test', password: 'only for tests', roles: null, send_email: true, extra: null },
    bad: [
      { body: {}, field: 'email' },
      { body: { email: null }, field: 'email' },
      { body: { email: 'a@x.test', send_email: 'yes' }, field: 'send_email' },
      ...badUser,
    ],
  },
  'PUT /users/{id}': { prepare: user, body: { first_name: 'Neo' }, bad: badUser },
  'DELETE /users/{id}': { prepare: user },
  'POST /users/{id}/@/resend-invite': { prepare: user },
  'POST /users/{id}/@/reset-password': { prepare: user, body: '' },
  'GET /users/{id}/groups': {
    prepare: async (given) => ({ id: (await member(given)).user }),
    bad: badPages,
  },
  'PUT /users/{id}/groups/{group}': {
    prepare: async (given) => ({ ...(await user(given)), group: (await group(given)).id }),
  },
  'DELETE /users/{id}/groups/{group}': {
    prepare: async (given) => {
      const pair = await member(given);
      return { id: pair.user, group: pair.id };
    },
  },
  'GET /users/{id}/roles': { prepare: user },
  'PUT /users/{id}/roles/{role}': {
    prepare: async (given) => ({ ...(await user(given)), role: (await role(given)).id }),
  },
  'DELETE /users/{id}/roles/{role}': {
    prepare: async (given) => {
      const pair = await holder(given);
      return { id: pair.user, role: pair.id };
    },
  },
  'GET /users/{id}/properties': { prepare: withProperty },
  'PUT /users/{id}/properties': {
    prepare: user,
    body: { properties: { region: 'north', unset: null } },
    bad: [
      { body: {}, field: 'properties' },
      { body: { properties: ['a'] }, field: 'properties' },
      { body: { properties: { a: 7 } }, field: 'properties.a' },
      { body: { properties: { ' ': 'x' } }, field: 'properties' },
    ],
  },
  'DELETE /users/{id}/properties': {
    prepare: withProperty,
    query: 'name=region',
    bad: [
      { query: '', field: 'name' },
      { query: 'name=', field: 'name' },
    ],
  },
};
export default cases;
