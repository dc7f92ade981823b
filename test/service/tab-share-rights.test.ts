import { describe, expect, it } from 'vitest';
import { builderBench, builderKey, createTab } from './dashboards.ts';
import { errorOf } from './people.ts';
import { type Answer, bench, keys } from './service.ts';

const worked = { meta: { success: true, status: 200 }, data: {} };

describe("a dashboard's share rights", () => {
  it('let groups and users view the dashboard, and change it only with can_edit', async () => {
    const given = await bench();
    const tab = await createTab(given);
    const key = keys.acmeViewer;
    const share = (can_edit: boolean): Promise<Answer> =>
      given.call('PUT', `/tabs/${tab}/share-rights`, { body: { groups: [{ group_id: 'acme-team', can_edit }] } });
    const place = (): Promise<Answer> => given.call('PUT', `/tabs/${tab}/klip-instances`, { key, body: { klips: [] } });
    expect((await place()).status).toBe(404);
    expect((await share(false)).body).toEqual(worked);
    expect((await given.call('GET', `/tabs/${tab}/klip-instances`, { key })).status).toBe(200);
    expect(errorOf(await place())).toEqual([403, 'forbidden']);
    await share(true);
    expect((await place()).status).toBe(200);
    expect((await given.call('GET', `/tabs/${tab}/share-rights`, { key })).body.data).toEqual({
      share_rights: [{ group_id: 'acme-team', group_name: 'Team', can_edit: true }],
      user_share_rights: [],
    });
  });

  it('are required for changes, even by a user who has all permissions for own assets', async () => {
    const given = await builderBench();
    const tab = await createTab(given);
    await given.call('PUT', `/tabs/${tab}/share-rights`, {
      body: { groups: [], users: [{ user_id: 'acme-builder' }] },
    });
    const calls: [string, string, object?][] = [
      ['PUT', '', { name: 'mine' }],
      ['DELETE', ''],
      ['PUT', '/klip-instances', { klips: [] }],
      ['DELETE', '/klip-instances/x'],
      ['PUT', '/layout', { type: 'grid', state: {} }],
      ['PUT', '/share-rights', { groups: [] }],
      ['DELETE', '/share-rights/acme-team'],
    ];
    for (const [method, path, body] of calls) {
      const answer = await given.call(method, `/tabs/${tab}${path}`, { key: builderKey, body: body ?? null });
      expect([method, path, ...(errorOf(answer) as unknown[])]).toEqual([method, path, 403, 'forbidden']);
    }
    const published = await given.call('POST', `/dashboard-published-links/${tab}`, {
      key: builderKey,
      body: { name: 'A' },
    });
    expect(errorOf(published)).toEqual([403, 'forbidden']);
  });

  it('are granted to all recipients or none, and are removed individually', async () => {
    const given = await bench();
    const path = `/tabs/${await createTab(given)}/share-rights`;
    const share = (body: object): Promise<Answer> => given.call('PUT', path, { body });
    const team = { group_id: 'acme-team', can_edit: true };
    expect((await share({ groups: [team, { group_id: 'unknown' }] })).status).toBe(404);
    expect((await share({ groups: [team, { group_id: 'other-team' }] })).status).toBe(403);
    expect((await share({ groups: [team], users: [{ user_id: 'bakery-admin' }] })).status).toBe(403);
    expect((await given.call('GET', path)).body.data).toEqual({ share_rights: [], user_share_rights: [] });
    await share({ groups: [team], users: [{ user_id: 'acme-editor' }] });
    expect((await given.call('DELETE', `${path}/acme-team`)).body).toEqual(worked);
    expect((await given.call('DELETE', `${path}/acme-team`)).status).toBe(403);
    expect((await given.call('DELETE', `${path}/unknown`)).status).toBe(404);
    expect((await given.call('DELETE', `${path}/acme-editor?type=user`)).status).toBe(200);
    expect((await given.call('GET', path)).body.data).toEqual({ share_rights: [], user_share_rights: [] });
  });
});
