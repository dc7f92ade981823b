import { describe, expect, it } from 'vitest';
import { dataOf, errorOf, hostileNames, make, managerKey, pagesOf, peopleBench } from './people.ts';
import { keys } from './service.ts';

describe('a group (section 4.9)', () => {
  it('has the values that it was created with, in the list, in detail and in full', async () => {
    const given = await peopleBench();
    const id = await make(given, '/groups', { name: 'Sales', description: 'who sell', external_id: 'crm-7' });
    expect(await pagesOf(given, '/groups', 'groups')).toEqual([
      { id: 'acme-team', name: 'Team', description: '' },
      { id, name: 'Sales', description: 'who sell' },
    ]);
    const detail = { id, external_id: 'crm-7', company: 'Acme', name: 'Sales', description: 'who sell' };
    expect(await dataOf(given, `/groups/${id}`)).toEqual({ ...detail, num_members: 0 });
    await given.call('PUT', `/groups/${id}/users/acme-editor`);
    const members = [{ id: 'acme-editor', full_name: 'Ed It' }];
    expect(await dataOf(given, `/groups/${id}?full=true`)).toEqual({ ...detail, num_members: 1, members });
    expect(await dataOf(given, `/groups/${id}?full=false`)).toEqual({ ...detail, num_members: 1 });
  });

  it('keeps its name if an update sets the name to null, and ignores unknown fields', async () => {
    const given = await peopleBench();
    const id = await make(given, '/groups', { name: 'Sales', description: 'who sell' });
    const answer = await given.call('PUT', `/groups/${id}`, { body: { description: 'who sold', name: null, x: [1] } });
    expect(answer.body).toEqual({ meta: { success: true, status: 200 }, data: {} });
    expect(await dataOf(given, `/groups/${id}`)).toMatchObject({ name: 'Sales', description: 'who sold' });
    expect((await given.call('PUT', `/groups/${id}`, { body: { name: 'Sales' } })).status).toBe(200);
  });

  it('keeps names in any script unchanged', async () => {
    const given = await peopleBench();
    for (const name of hostileNames) {
      const id = await make(given, '/groups', { name });
      expect(await dataOf(given, `/groups/${id}`)).toMatchObject({ name });
    }
  });

  it('is listed for users who can manage users or view groups, but only the former can manage it', async () => {
    const given = await peopleBench();
    const role = await make(given, '/roles', { name: 'Group viewer', permissions: ['group.view'] });
    await given.call('PUT', `/roles/${role}/users/acme-viewer`);
    expect((await given.call('GET', '/groups', { key: keys.acmeViewer })).status).toBe(200);
    expect((await given.call('GET', '/groups', { key: managerKey })).status).toBe(200);
    expect((await given.call('GET', '/groups', { key: keys.acmeNobody })).status).toBe(401);
    expect(errorOf(await given.call('GET', '/groups/acme-team', { key: keys.acmeViewer }))).toEqual([
      401,
      'permission_denied',
    ]);
  });

  it("of another company or client isn't found, and with client_id only the client's own groups are found", async () => {
    const given = await peopleBench();
    for (const path of ['/groups/other-team', '/groups/bakery-team', '/groups/acme-team?client_id=bakery']) {
      expect((await given.call('GET', path)).status).toBe(404);
      expect((await given.call('PUT', path, { body: { name: 'Mine' } })).status).toBe(404);
      expect((await given.call('DELETE', path)).status).toBe(404);
    }
    expect((await given.call('GET', '/groups/bakery-team?client_id=bakery')).body.data.company).toBe('Bakery');
    const inBody = await make(given, '/groups', { name: 'Bakers', client_id: 'bakery' });
    const inQuery = await make(given, '/groups?client_id=bakery', { name: 'Sellers' });
    const listed = (await dataOf(given, '/groups?client_id=bakery')) as { groups: { id: string }[] };
    expect(listed.groups.map(({ id }) => id).sort()).toEqual(['bakery-team', inBody, inQuery].sort());
    expect(await dataOf(given, '/groups')).toMatchObject({ groups: [{ id: 'acme-team' }] });
    expect(errorOf(await given.call('GET', '/groups?client_id=bakery', { key: managerKey }))).toEqual([
      401,
      'permission_denied',
    ]);
  });

  it('is deleted with its memberships and shares', async () => {
    const given = await peopleBench();
    const source = await given.source();
    const rights = `/datasources/${source}/share-rights`;
    await given.call('PUT', rights, { body: { groups: [{ group_id: 'acme-team' }] } });
    expect((await given.call('GET', `/datasources/${source}`, { key: keys.acmeViewer })).status).toBe(200);
    expect((await given.call('DELETE', '/groups/acme-team')).status).toBe(200);
    expect((await given.call('GET', '/groups/acme-team')).status).toBe(404);
    expect((await given.call('GET', `/datasources/${source}`, { key: keys.acmeViewer })).status).toBe(404);
    expect(await dataOf(given, rights)).toEqual({ share_rights: [], user_share_rights: [] });
    expect(await dataOf(given, '/users/acme-viewer/groups')).toEqual({ groups: [] });
  });
});

describe("a group's members", () => {
  it('are added and removed by either path, and adding a member twice has no effect', async () => {
    const given = await peopleBench();
    for (const path of ['/groups/acme-team/users/acme-editor', '/users/acme-editor/groups/acme-team']) {
      expect((await given.call('PUT', path)).status).toBe(200);
      expect((await given.call('PUT', path)).status).toBe(200);
      expect(await pagesOf(given, '/groups/acme-team/users', 'users')).toEqual([
        { id: 'acme-editor', first_name: 'Ed', last_name: 'It', email: 'ed@acme.test' },
        { id: 'acme-viewer', first_name: '', last_name: '', email: 'vi@acme.test' },
      ]);
      expect(await pagesOf(given, '/users/acme-editor/groups', 'groups')).toEqual([
        { id: 'acme-team', name: 'Team', description: '' },
      ]);
      expect((await given.call('DELETE', path)).status).toBe(200);
      expect((await given.call('DELETE', path)).status).toBe(404);
    }
  });

  it("must be in the group's account; other users aren't found", async () => {
    const given = await peopleBench();
    for (const user of ['other-admin', 'bakery-admin', 'unknown']) {
      expect((await given.call('PUT', `/groups/acme-team/users/${user}`)).status).toBe(404);
      expect((await given.call('PUT', `/users/${user}/groups/acme-team`)).status).toBe(404);
    }
    for (const group of ['other-team', 'bakery-team', 'unknown']) {
      expect((await given.call('PUT', `/groups/${group}/users/acme-editor`)).status).toBe(404);
      expect((await given.call('PUT', `/users/acme-editor/groups/${group}`)).status).toBe(404);
      expect((await given.call('DELETE', `/users/acme-editor/groups/${group}`)).status).toBe(404);
    }
    const path = '/groups/bakery-team/users/bakery-admin?client_id=bakery';
    expect((await given.call('PUT', path)).status).toBe(200);
    expect(await dataOf(given, '/groups/bakery-team?client_id=bakery')).toMatchObject({ num_members: 1 });
  });

  it('gain and lose access to what is shared with the group', async () => {
    const given = await peopleBench();
    const source = await given.source();
    const body = { groups: [{ group_id: 'acme-team' }] };
    await given.call('PUT', `/datasources/${source}/share-rights`, { body });
    expect((await given.call('DELETE', '/groups/acme-team/users/acme-viewer')).status).toBe(200);
    expect((await given.call('GET', `/datasources/${source}`, { key: keys.acmeViewer })).status).toBe(404);
    await given.call('PUT', '/users/acme-viewer/groups/acme-team');
    expect((await given.call('GET', `/datasources/${source}`, { key: keys.acmeViewer })).status).toBe(200);
  });
});
