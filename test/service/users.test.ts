import { describe, expect, it } from 'vitest';
import { permissions } from '../../src/service/auth/permissions.ts';
import { dataOf, errorOf, hostileNames, make, managerKey, pagesOf, peopleBench, roleIds } from './people.ts';
import { type Answer, type Bench, bench, keys, scratch } from './service.ts';

const forbidden = [403, 'forbidden'];
const denied = [401, 'permission_denied'];
const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const basic = (email: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`,
});
const signIn = (given: Bench, email: string, password: string): Promise<Answer> =>
  given.call('GET', '/profile', { key: null, headers: basic(email, password) });

describe('a user', () => {
  it('has the values that it was created with, in the list, in detail and in full', async () => {
    const given = await peopleBench();
    const { Editor } = await roleIds(given);
    const body = { email: 'new@acme.test', first_name: 'Neo', last_name: 'One', external_id: 'hr-1', roles: [Editor] };
    const id = await make(given, '/users', { ...body, send_email: false });
    await given.call('PUT', `/users/${id}/groups/acme-team`);
    await given.call('PUT', `/users/${id}/properties`, { body: { properties: { region: 'north' } } });
    const listed = { id, first_name: 'Neo', last_name: 'One', email: 'new@acme.test', date_last_login: null };
    expect(await pagesOf(given, '/users', 'users')).toContainEqual(listed);
    const detail = { ...listed, external_id: 'hr-1', company: 'Acme', date_created: iso, is_locked_out: false };
    expect(await dataOf(given, `/users/${id}`)).toEqual(detail);
    expect(await dataOf(given, `/users/${id}?full=true`)).toMatchObject({
      ...detail,
      groups: [{ id: 'acme-team', name: 'Team' }],
      roles: [Editor],
      properties: { region: 'north' },
    });
  });

  it('signs in with an email address in any case and a password, and with the new ones after a change', async () => {
    const given = await peopleBench();
    const id = await make(given, '/users', { email: 'New@acme.test', password: 'pässword: one' });
    expect((await signIn(given, 'new@ACME.test', 'pässword: one')).body.data).toMatchObject({ id });
    await given.call('PUT', `/users/${id}`, { body: { first_name: 'Neo', password: null } });
    expect((await signIn(given, 'new@acme.test', 'pässword: one')).status).toBe(200);
    await given.call('PUT', `/users/${id}`, { body: { password: 'two', email: 'neo@acme.test' } });
    expect((await signIn(given, 'new@acme.test', 'two')).status).toBe(401);
    expect((await signIn(given, 'neo@acme.test', 'pässword: one')).status).toBe(401);
    expect((await signIn(given, 'neo@acme.test', 'two')).status).toBe(200);
    const silent = await make(given, '/users', { email: 'silent@acme.test' });
    expect((await signIn(given, 'silent@acme.test', '')).status).toBe(401);
    expect((await given.call('GET', `/users/${silent}?full=true`)).text).not.toMatch(/password|scrypt/);
  });

  it('has the View-Only role by default', async () => {
    const given = await peopleBench();
    const id = await make(given, '/users', { email: 'new@acme.test' });
    expect(await dataOf(given, `/users/${id}/roles`)).toMatchObject({ name: 'View-Only' });
  });

  it('gets the role that an update contains, and keeps all other values', async () => {
    const given = await peopleBench();
    const { Editor, Nobody } = await roleIds(given);
    for (const id of [Editor, Nobody]) {
      expect((await given.call('PUT', '/users/acme-editor', { body: { roles: [id] } })).status).toBe(200);
      expect(await dataOf(given, '/users/acme-editor/roles')).toMatchObject({ id });
    }
    expect(await dataOf(given, '/users/acme-editor')).toMatchObject({ first_name: 'Ed', email: 'ed@acme.test' });
  });

  it("can't get another account's role, even when the user is created", async () => {
    const given = await peopleBench();
    const theirs = await make(given, '/roles', { name: 'Theirs' }, keys.otherAdmin);
    const clients = (await roleIds(given, '?client_id=bakery')).Editor;
    for (const id of [theirs, clients, 'unknown']) {
      const body = { email: 'new@acme.test', roles: [id] };
      expect(errorOf(await given.call('POST', '/users', { body }))).toEqual([404, 'not_found']);
      expect((await given.call('PUT', '/users/acme-editor', { body: { roles: [id] } })).status).toBe(404);
    }
    expect((await pagesOf(given, '/users', 'users')).length).toBe(6);
  });

  it('has an email address that is unique across the service', async () => {
    const given = await peopleBench();
    for (const email of ['ED@acme.test', 'admin@other.test', 'admin@bakery.test']) {
      expect(errorOf(await given.call('POST', '/users', { body: { email } }))).toEqual([400, 'bad_request']);
      expect((await given.call('PUT', '/users/acme-viewer', { body: { email } })).status).toBe(400);
    }
    expect((await given.call('PUT', '/users/acme-editor', { body: { email: 'ED@acme.test' } })).status).toBe(200);
    const racing = Array.from({ length: 4 }, () =>
      given.call('POST', '/users', { body: { email: 'race@acme.test', password: 'x' } }),
    );
    expect((await Promise.all(racing)).map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
  });

  it('keeps names in any script unchanged', async () => {
    const given = await peopleBench();
    for (const [index, name] of hostileNames.entries()) {
      const id = await make(given, '/users', { email: `u${index}@acme.test`, first_name: name, last_name: name });
      expect(await dataOf(given, `/users/${id}`)).toMatchObject({ first_name: name, last_name: name });
    }
  });

  it("of another company or client isn't found, and with client_id only the client's own users are found", async () => {
    const given = await peopleBench();
    for (const path of ['/users/other-admin', '/users/bakery-admin', '/users/acme-editor?client_id=bakery']) {
      for (const method of ['GET', 'PUT', 'DELETE']) expect((await given.call(method, path)).status).toBe(404);
    }
    const baker = await make(given, '/users', { email: 'baker@bakery.test', client_id: 'bakery' });
    expect((await given.call('GET', `/users/${baker}`)).status).toBe(404);
    expect((await given.call('GET', `/users/${baker}?client_id=bakery`)).body.data.company).toBe('Bakery');
    expect((await pagesOf(given, '/users?client_id=bakery', 'users')).length).toBe(2);
  });

  it('is deleted with all keys, memberships and shares, but the items that the user created are kept for the admins', async () => {
    const given = await peopleBench();
    const made = await given.source({}, { key: keys.acmeEditor });
    const shared = await given.source();
    const rights = `/datasources/${shared}/share-rights`;
    await given.call('PUT', rights, { body: { groups: [], users: [{ user_id: 'acme-editor' }] } });
    await given.call('PUT', '/groups/acme-team/users/acme-editor');
    expect((await given.call('DELETE', '/users/acme-editor')).body).toEqual({
      meta: { success: true, status: 200 },
      data: {},
    });
    expect((await given.call('GET', '/profile', { key: keys.acmeEditor })).status).toBe(401);
    expect((await given.call('GET', '/users/acme-editor')).status).toBe(404);
    expect(await dataOf(given, '/groups/acme-team')).toMatchObject({ num_members: 1 });
    expect(await dataOf(given, rights)).toEqual({ share_rights: [], user_share_rights: [] });
    expect(await dataOf(given, `/datasources/${made}`)).toMatchObject({ created_by: null });
  });

  it("with more permissions than a manager can't be changed or deleted by that manager", async () => {
    const given = await peopleBench();
    const ask = (method: string, path: string, body: object = {}): Promise<Answer> =>
      given.call(method, path, { key: managerKey, body });
    expect(errorOf(await ask('PUT', '/users/acme-admin', { password: 'mine' }))).toEqual(forbidden);
    expect(errorOf(await ask('PUT', '/users/acme-admin', { email: 'me@acme.test' }))).toEqual(forbidden);
    expect(errorOf(await ask('DELETE', '/users/acme-admin'))).toEqual(forbidden);
    const { Admin, Editor } = await roleIds(given);
    expect(errorOf(await ask('POST', '/users', { email: 'x@acme.test', roles: [Admin] }))).toEqual(denied);
    expect(errorOf(await ask('PUT', '/users/acme-manager', { roles: [Admin] }))).toEqual(denied);
    expect(errorOf(await ask('PUT', '/users/acme-viewer', { roles: [Editor] }))).toEqual(denied);
    expect((await signIn(given, 'admin@acme.test', 'correct horse')).status).toBe(200);
    expect((await ask('PUT', '/users/acme-viewer', { first_name: 'Vi' })).status).toBe(200);
    expect((await ask('PUT', '/users/acme-manager', { first_name: 'Mo' })).status).toBe(200);
    expect((await ask('DELETE', '/users/acme-viewer')).status).toBe(200);
  });

  it("with the Admin role can't be changed, even by a manager with every permission", async () => {
    const given = await peopleBench();
    const all = await make(given, '/roles', { name: 'Everything', permissions: [...permissions] });
    await given.call('PUT', '/users/acme-manager', { body: { roles: [all] } });
    const ask = (method: string, path: string, body: object = {}): Promise<Answer> =>
      given.call(method, path, { key: managerKey, body });
    expect(errorOf(await ask('PUT', '/users/acme-admin', { password: 'mine' }))).toEqual(forbidden);
    expect(errorOf(await ask('DELETE', '/users/acme-admin'))).toEqual(forbidden);
    expect((await signIn(given, 'admin@acme.test', 'correct horse')).status).toBe(200);
    expect((await ask('PUT', '/users/acme-editor', { first_name: 'Edith' })).status).toBe(200);
  });

  it('survives a restart with the same role, groups and properties', async () => {
    const folder = await scratch();
    const before = await bench({ data: { folder } });
    const { Editor } = await roleIds(before);
    const id = await make(before, '/users', { email: 'new@acme.test', password: 'x', roles: [Editor] });
    const group = await make(before, '/groups', { name: 'Sales' });
    await before.call('PUT', `/users/${id}/groups/${group}`);
    await before.call('PUT', `/users/${id}/properties`, { body: { properties: { region: 'north' } } });
    const full = await dataOf(before, `/users/${id}?full=true`);
    await before.close();
    const after = await bench({ data: { folder } });
    expect(await dataOf(after, `/users/${id}?full=true`)).toEqual(full);
    expect(full).toMatchObject({
      groups: [{ name: 'Sales' }],
      roles: [Editor],
      properties: { region: 'north' },
    });
  });
});
