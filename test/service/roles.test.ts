import { describe, expect, it } from 'vitest';
import { permissions } from '../../src/service/auth/permissions.ts';
import { dataOf, errorOf, hostileNames, make, managerKey, pagesOf, peopleBench, roleIds } from './people.ts';
import { type Answer, type Bench, keys } from './service.ts';

const forbidden = [403, 'forbidden'];
const denied = [401, 'permission_denied'];
const person = (email: string, first_name = '', last_name = '') => ({ first_name, last_name, email });

describe('a role (section 4.10)', () => {
  it('has the values that it was created with, in the list, in detail and in full', async () => {
    const given = await peopleBench();
    const body = { name: 'Pusher', description: 'pushes', permissions: ['klip.edit', 'tab.edit', 'klip.edit'] };
    const id = await make(given, '/roles', body);
    expect(await pagesOf(given, '/roles', 'roles')).toContainEqual({ id, name: 'Pusher', description: 'pushes' });
    const detail = { id, name: 'Pusher', description: 'pushes', company: 'Acme' };
    expect(await dataOf(given, `/roles/${id}`)).toEqual(detail);
    await given.call('PUT', `/roles/${id}/users/acme-editor`);
    expect(await dataOf(given, `/roles/${id}?full=true`)).toEqual({
      ...detail,
      users: [{ id: 'acme-editor', ...person('ed@acme.test', 'Ed', 'It') }],
      num_users: 1,
      permissions: ['klip.edit', 'tab.edit'],
    });
    expect(await pagesOf(given, `/roles/${id}/permissions`, 'permissions')).toEqual(['klip.edit', 'tab.edit']);
  });

  it('gets the permissions that an update lists, and keeps the old ones if the update lists none', async () => {
    const given = await peopleBench();
    const id = await make(given, '/roles', { name: 'Pusher', permissions: ['klip.edit', 'tab.edit'] });
    const held = async () => (await dataOf(given, `/roles/${id}?full=true`)).permissions;
    await given.call('PUT', `/roles/${id}`, { body: { description: 'x', permissions: null } });
    expect(await held()).toEqual(['klip.edit', 'tab.edit']);
    await given.call('PUT', `/roles/${id}`, { body: { permissions: ['klip.build'] } });
    expect(await held()).toEqual(['klip.build']);
    await given.call('PUT', `/roles/${id}/permissions`, { body: { permissions: ['user.manage'] } });
    expect(await held()).toEqual(['user.manage']);
    await given.call('PUT', `/roles/${id}`, { body: { permissions: ['klip.edit', 'tab.edit', 'klip.build'] } });
    await given.call('DELETE', `/roles/${id}/permissions`, { body: { permissions: ['tab.edit', 'user.manage'] } });
    expect(await held()).toEqual(['klip.edit', 'klip.build']);
    await given.call('PUT', `/roles/${id}`, { body: { permissions: [] } });
    expect(await held()).toEqual([]);
    expect(await dataOf(given, `/roles/${id}`)).toMatchObject({ name: 'Pusher', description: 'x' });
  });

  it('takes effect immediately: its users have its new permissions on their next call', async () => {
    const given = await peopleBench();
    const id = await make(given, '/roles', { name: 'Pusher' });
    await given.call('PUT', `/roles/${id}/users/acme-nobody`);
    const list = async () => (await given.call('GET', '/datasources', { key: keys.acmeNobody })).status;
    expect(await list()).toBe(401);
    await given.call('PUT', `/roles/${id}`, { body: { permissions: ['dashboard.library'] } });
    expect(await list()).toBe(200);
    await given.call('PUT', `/roles/${id}`, { body: { permissions: [] } });
    expect(await list()).toBe(401);
  });

  it('accepts the name of every permission, and no other name', async () => {
    const given = await peopleBench();
    const id = await make(given, '/roles', { name: 'All', permissions });
    expect(await pagesOf(given, `/roles/${id}/permissions`, 'permissions')).toEqual(permissions);
    for (const name of ['klip.sell', 'Klip.edit', '', 'klip.edit ', '__proto__']) {
      const answer = await given.call('PUT', `/roles/${id}`, { body: { permissions: ['klip.edit', name] } });
      expect(errorOf(answer)).toEqual([400, 'bad_request']);
      expect(answer.body.meta.error_desc).toContain('"permissions.1"');
    }
    expect((await dataOf(given, `/roles/${id}?full=true`)).permissions).toEqual(permissions);
  });

  it('keeps names in any script unchanged', async () => {
    const given = await peopleBench();
    for (const name of hostileNames) {
      const id = await make(given, '/roles', { name });
      expect(await dataOf(given, `/roles/${id}`)).toMatchObject({ name });
    }
  });

  it("that is built in can be read, but can't be changed or deleted", async () => {
    const given = await peopleBench();
    const ids = await roleIds(given);
    for (const name of ['Admin', 'Editor', 'View-Only']) {
      const path = `/roles/${ids[name]}`;
      expect(errorOf(await given.call('PUT', path, { body: { permissions: [] } }))).toEqual(forbidden);
      expect(errorOf(await given.call('PUT', path, { body: { name: 'Mine' } }))).toEqual(forbidden);
      expect(errorOf(await given.call('PUT', `${path}/permissions`, { body: { permissions: [] } }))).toEqual(forbidden);
      expect(errorOf(await given.call('DELETE', `${path}/permissions`, { body: { permissions: [] } }))).toEqual(
        forbidden,
      );
      expect(errorOf(await given.call('DELETE', path))).toEqual(forbidden);
    }
    expect(await dataOf(given, `/roles/${ids.Admin}?full=true`)).toMatchObject({ num_users: 1, permissions });
    expect((await given.call('GET', '/profile')).status).toBe(200);
  });

  it('that is built in for editors has all permissions except those for the account, its clients and its users', async () => {
    const given = await peopleBench();
    const { Editor } = await roleIds(given);
    const held = (await dataOf(given, `/roles/${Editor}?full=true`)).permissions as string[];
    expect(permissions.filter((name) => !held.includes(name))).toEqual([
      ...['account.api', 'client.access', 'user.manage'],
      ...['account.api_key', 'account.profile', 'account.settings', 'account.tokens', 'account.usage'],
      ...['client.build', 'client.delete', 'client.edit', 'client.login', 'client.share'],
    ]);
  });

  it('that is deleted leaves its users without a role', async () => {
    const given = await peopleBench();
    const { Editor, Nobody } = await roleIds(given);
    expect((await given.call('DELETE', `/roles/${Nobody}`)).status).toBe(200);
    expect((await given.call('GET', `/roles/${Nobody}`)).status).toBe(404);
    expect(await dataOf(given, '/users/acme-nobody/roles')).toEqual({});
    expect((await given.call('PUT', `/roles/${Editor}/users/acme-nobody`)).status).toBe(200);
  });

  it("of another company or client isn't found, and with client_id only the client's own roles are found", async () => {
    const given = await peopleBench();
    const theirs = await make(given, '/roles', { name: 'Theirs' }, keys.otherAdmin);
    const clients = await make(given, '/roles', { name: 'Clients', client_id: 'bakery' });
    const own = await make(given, '/roles', { name: 'Own' });
    for (const path of [`/roles/${theirs}`, `/roles/${clients}`, `/roles/${own}?client_id=bakery`]) {
      expect((await given.call('GET', path)).status).toBe(404);
      expect((await given.call('PUT', path, { body: { name: 'Mine' } })).status).toBe(404);
      expect((await given.call('DELETE', path)).status).toBe(404);
    }
    expect((await given.call('GET', `/roles/${clients}?client_id=bakery`)).body.data.company).toBe('Bakery');
    expect(Object.keys(await roleIds(given))).not.toContain('Clients');
    expect(Object.keys(await roleIds(given, '?client_id=bakery'))).toContain('Clients');
  });

  // The vendor's documentation names user.manage as the only permission for changing a role (section 4.10).
  it('can get permissions that the user who changes it lacks, but only an Admin can assign it', async () => {
    const given = await peopleBench();
    const ask = (method: string, path: string, body: object): Promise<Answer> =>
      given.call(method, path, { key: managerKey, body });
    const made = await ask('POST', '/roles', { name: 'Mighty', permissions: ['client.access'] });
    const path = made.body.meta.location!;
    expect((await ask('PUT', path, { permissions: ['account.api'] })).status).toBe(200);
    expect((await ask('PUT', `${path}/permissions`, { permissions })).status).toBe(200);
    expect((await dataOf(given, `${path}?full=true`)).permissions).toEqual(permissions);
    expect(errorOf(await ask('PUT', `${path}/users/acme-viewer`, {}))).toEqual(denied);
  });
});

describe("a role's users (section 4.10)", () => {
  it('are listed with names and email addresses', async () => {
    const given = await peopleBench();
    const { Editor } = await roleIds(given);
    expect(await pagesOf(given, `/roles/${Editor}/users`, 'users')).toEqual([person('ed@acme.test', 'Ed', 'It')]);
    expect(errorOf(await given.call('GET', `/roles/${Editor}/users`, { key: keys.otherAdmin }))).toEqual(denied);
    expect((await given.call('GET', '/roles/unknown/users')).status).toBe(404);
  });

  it('have one role each, and assigning another role replaces it', async () => {
    const given = await peopleBench();
    const { Editor, 'View-Only': viewOnly } = await roleIds(given);
    expect((await given.call('PUT', `/roles/${viewOnly}/users/acme-editor`)).body.data).toEqual({});
    expect(await dataOf(given, '/users/acme-editor/roles')).toMatchObject({ id: viewOnly, name: 'View-Only' });
    expect(await dataOf(given, `/roles/${Editor}/users`)).toEqual({ users: [] });
    expect((await given.call('DELETE', `/roles/${viewOnly}/users/acme-editor`)).status).toBe(200);
    expect(await dataOf(given, '/users/acme-editor/roles')).toEqual({});
  });

  it("can't be given a role that they already have, or lose one that they don't have (403)", async () => {
    const given = await peopleBench();
    const { Editor, 'View-Only': viewOnly } = await roleIds(given);
    for (const path of [`/roles/${Editor}/users/acme-editor`, `/users/acme-editor/roles/${Editor}`]) {
      expect(errorOf(await given.call('PUT', path))).toEqual(forbidden);
    }
    for (const path of [`/roles/${viewOnly}/users/acme-editor`, `/users/acme-editor/roles/${viewOnly}`]) {
      expect(errorOf(await given.call('DELETE', path))).toEqual(forbidden);
    }
    expect(await dataOf(given, '/users/acme-editor/roles')).toMatchObject({ id: Editor });
  });

  it('cause a 401 for non-admins and other companies, a 404 for unknown IDs, and a 400 without a user', async () => {
    const given = await peopleBench();
    const { Editor, 'View-Only': viewOnly } = await roleIds(given);
    const clients = (await roleIds(given, '?client_id=bakery')).Editor;
    const theirs = await make(given, '/roles', { name: 'Theirs' }, keys.otherAdmin);
    const both = async (path: string, key?: string): Promise<unknown[]> => {
      const sent = key === undefined ? {} : { key };
      return [errorOf(await given.call('PUT', path, sent)), errorOf(await given.call('DELETE', path, sent))];
    };
    expect(await both(`/roles/${viewOnly}/users/acme-editor`, managerKey)).toEqual([denied, denied]);
    expect(await both(`/users/acme-editor/roles/${viewOnly}`, managerKey)).toEqual([denied, denied]);
    expect(await both(`/roles/${Editor}/users/other-admin`)).toEqual([denied, denied]);
    expect(await both(`/roles/${Editor}/users/bakery-admin`)).toEqual([denied, denied]);
    expect(await both(`/roles/${theirs}/users/acme-viewer`)).toEqual([denied, denied]);
    expect(await both(`/roles/${clients}/users/acme-viewer`)).toEqual([denied, denied]);
    const unknown = [404, 'not_found'];
    expect(await both('/roles/unknown/users/acme-viewer')).toEqual([unknown, unknown]);
    expect(await both(`/roles/${Editor}/users/unknown`)).toEqual([unknown, unknown]);
    for (const path of [`/users/other-admin/roles/${Editor}`, `/users/acme-viewer/roles/${theirs}`]) {
      expect(await both(path)).toEqual([unknown, unknown]);
    }
    const bad = [400, 'bad_request'];
    expect(await both(`/roles/${Editor}/users`)).toEqual([bad, bad]);
    expect(await both(`/roles/${Editor}/users/`)).toEqual([bad, bad]);
    expect((await given.call('PUT', `/roles/${clients}/users/bakery-admin?client_id=bakery`)).status).toBe(403);
  });
});

describe('the last admin', () => {
  /** Every way to remove the role from this user. */
  async function waysOut(given: Bench, id: string): Promise<[string, string, object?][]> {
    const { Admin, Editor } = await roleIds(given);
    return [
      ['DELETE', `/roles/${Admin}/users/${id}`],
      ['DELETE', `/users/${id}/roles/${Admin}`],
      ['PUT', `/roles/${Editor}/users/${id}`],
      ['PUT', `/users/${id}/roles/${Editor}`],
      ['PUT', `/users/${id}`, { roles: [Editor] }],
      ['DELETE', `/users/${id}`],
      ['DELETE', `/roles/${Admin}`],
      ['PUT', `/roles/${Admin}`, { permissions: [] }],
    ];
  }

  it("can't lose the role in any way, and a refused call has no effect", async () => {
    const given = await peopleBench();
    for (const [method, path, body] of await waysOut(given, 'acme-admin')) {
      const answer = await given.call(method, path, { body: body ?? {} });
      expect([method, path, errorOf(answer)]).toEqual([method, path, forbidden]);
      expect(await dataOf(given, '/users/acme-admin/roles')).toMatchObject({ name: 'Admin' });
    }
    const changed = await given.call('PUT', '/users/acme-admin', {
      body: { first_name: 'Al', roles: [(await roleIds(given)).Editor] },
    });
    expect(changed.status).toBe(403);
    expect(await dataOf(given, '/users/acme-admin')).toMatchObject({ first_name: '' });
  });

  it('can lose the role once there is a second admin, who is then the last one', async () => {
    const given = await peopleBench();
    const { Admin } = await roleIds(given);
    for (const [index, [method, path, body]] of (await waysOut(given, 'X')).slice(0, 6).entries()) {
      const second = await make(given, '/users', { email: `a${index}@acme.test`, roles: [Admin] });
      const answer = await given.call(method, path.replace('X', second), { body: body ?? {} });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(await dataOf(given, `/roles/${Admin}?full=true`)).toMatchObject({ num_users: 1 });
    }
  });

  it('of a client account is also protected', async () => {
    const given = await peopleBench();
    const answer = await given.call('DELETE', '/users/bakery-admin?client_id=bakery');
    expect(errorOf(answer)).toEqual(forbidden);
  });
});
