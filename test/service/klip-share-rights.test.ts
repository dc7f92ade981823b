import { describe, expect, it } from 'vitest';
import { errorOf, newKlip, people, shareWithTeam, withPeople } from './klip-fixtures.ts';
import { type Answer, bench, keys } from './service.ts';

const team = { group_id: 'acme-team', can_edit: true };

describe('sharing a Klip (4.6)', () => {
  it('grants and changes access, and a DELETE with a body revokes it', async () => {
    const given = await bench();
    const id = await newKlip(given);
    const path = `/klips/${id}/share-rights`;
    const shown = async (): Promise<unknown> => (await given.call('GET', path)).body.data;
    expect(await shown()).toEqual({ share_rights: [] });
    for (const can_edit of [false, true, false]) {
      const answer = await given.call('PUT', path, { body: { groups: [{ group_id: 'acme-team', can_edit }] } });
      expect(answer.body).toEqual({ meta: { success: true, status: 200 }, data: {} });
      expect(await shown()).toEqual({ share_rights: [{ group_id: 'acme-team', group_name: 'Team', can_edit }] });
    }
    const ended = await given.call('DELETE', path, { body: { groups: [team, team], extra: null } });
    expect(ended.body).toEqual({ meta: { success: true, status: 200 }, data: {} });
    expect(await shown()).toEqual({ share_rights: [] });
  });

  it('applies to all recipients or to none', async () => {
    const given = await bench();
    const id = await newKlip(given);
    const path = `/klips/${id}/share-rights`;
    const share = (body: object): Promise<Answer> => given.call('PUT', path, { body });
    expect(errorOf(await share({ groups: [team, { group_id: 'unknown' }] }))).toEqual([404, 'not_found']);
    for (const group_id of ['other-team', 'bakery-team']) {
      expect(errorOf(await share({ groups: [team, { group_id }] }))).toEqual([403, 'forbidden']);
    }
    expect((await share({ groups: [team], users: [{ user_id: 'other-admin' }] })).status).toBe(403);
    expect((await share({ groups: [team], users: [{ user_id: 'unknown' }] })).status).toBe(404);
    expect((await given.call('GET', path)).body.data).toEqual({ share_rights: [] });
  });

  it('is revoked for all given groups or none: 404 for an unknown group, 403 for a group without access', async () => {
    const given = await bench();
    const id = await newKlip(given);
    await shareWithTeam(given, id);
    const path = `/klips/${id}/share-rights`;
    const end = (...groups: string[]): Promise<Answer> =>
      given.call('DELETE', path, { body: { groups: groups.map((group_id) => ({ group_id })) } });
    expect(errorOf(await end('acme-team', 'unknown'))).toEqual([404, 'not_found']);
    expect(errorOf(await end('acme-team', 'other-team'))).toEqual([403, 'forbidden']);
    expect((await given.call('GET', path)).body.data.share_rights).toHaveLength(1);
    expect((await end()).status).toBe(200);
    expect((await end('acme-team')).status).toBe(200);
    expect(errorOf(await end('acme-team'))).toEqual([403, 'forbidden']);
  });

  it('requires klip.share, and dashboard.library to read the rights', async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given);
    await shareWithTeam(given, id, true);
    const path = `/klips/${id}/share-rights`;
    for (const method of ['PUT', 'DELETE']) {
      const refused = await given.call(method, path, { key: people.wes, body: { groups: [team] } });
      expect(errorOf(refused)).toEqual([401, 'permission_denied']);
      expect(refused.body.meta.error_desc).toContain('klip.share');
    }
    expect((await given.call('GET', path, { key: people.wes })).status).toBe(200);
    expect(errorOf(await given.call('GET', path, { key: people.agent }))).toEqual([401, 'permission_denied']);
  });

  it('ignores client_id: only a client can share its Klips', async () => {
    const given = await bench();
    const id = await newKlip(given, { client_id: 'bakery' });
    const path = `/klips/${id}/share-rights`;
    const body = { groups: [{ group_id: 'bakery-team' }] };
    expect((await given.call('PUT', `${path}?client_id=bakery`, { body })).status).toBe(404);
    expect((await given.call('PUT', path, { body, key: keys.clientAdmin })).status).toBe(200);
    expect((await given.call('GET', `/klips/${id}?client_id=bakery&full=true`)).body.data.share_rights).toHaveLength(1);
  });
});
