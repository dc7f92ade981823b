import { describe, expect, it } from 'vitest';
import { createTab } from './dashboards.ts';
import { dataOf, make, managerKey, pagesOf, peopleBench } from './people.ts';
import { type Answer, type Bench, keys } from './service.ts';

const path = '/users/acme-viewer/tab-instances';
const put = (given: Bench, tab_ids: string[], key: string = keys.acmeAdmin): Promise<Answer> =>
  given.call('PUT', path, { key, body: { tab_ids } });

describe("a user's tab instances (section 4.11)", () => {
  it('are created from dashboards, listed in the given order, and included in the full form of the user and the profile', async () => {
    const given = await peopleBench();
    const [sales, costs] = [await createTab(given, { name: 'Sales' }), await createTab(given, { name: 'Costs' })];
    const created = (await put(given, [costs, sales, costs])).body.data.tab_instances as { id: string }[];
    const id = expect.stringMatching(/^[0-9a-f]{32}$/);
    expect(created).toEqual([
      { id, tab_id: costs, name: 'Costs' },
      { id, tab_id: sales, name: 'Sales' },
    ]);
    const listed = created.map((one) => ({ ...one, context: 'desktop' }));
    expect(await pagesOf(given, path, 'tab_instances')).toEqual(listed);
    expect((await dataOf(given, '/users/acme-viewer?full=true')).tab_instances).toEqual(listed);
    const profile = await given.call('GET', '/profile?full=true', { key: keys.acmeViewer });
    expect(profile.body.data.tab_instances).toEqual(listed);
    expect(await dataOf(given, '/users/acme-editor/tab-instances')).toEqual({ tab_instances: [] });
  });

  it('are unique per dashboard: a second request returns the existing instance', async () => {
    const given = await peopleBench();
    const [sales, costs] = [await createTab(given), await createTab(given, { name: 'Costs' })];
    const [first] = (await put(given, [sales])).body.data.tab_instances as { id: string }[];
    const again = (await put(given, [costs, sales])).body.data.tab_instances as { id: string }[];
    expect(again[1]).toEqual(first);
    expect(await pagesOf(given, path, 'tab_instances')).toHaveLength(2);
  });

  it('belong to one user, and are deleted individually or with their dashboard', async () => {
    const given = await peopleBench();
    const [sales, costs] = [await createTab(given), await createTab(given)];
    const [first] = (await put(given, [sales, costs])).body.data.tab_instances as { id: string }[];
    expect((await given.call('DELETE', `/users/acme-editor/tab-instances/${first!.id}`)).status).toBe(404);
    expect((await given.call('DELETE', `${path}/${first!.id}`)).body.data).toEqual({});
    expect((await given.call('DELETE', `${path}/${first!.id}`)).status).toBe(404);
    await given.call('DELETE', `/tabs/${costs}`);
    expect(await dataOf(given, path)).toEqual({ tab_instances: [] });
  });

  it("are created all or nothing, and only from the account's dashboards that the caller can see", async () => {
    const given = await peopleBench();
    const own = await createTab(given);
    const theirs = await createTab(given, {}, { key: keys.otherAdmin });
    const clients = await createTab(given, { client_id: 'bakery' });
    for (const tab of [theirs, clients, 'unknown']) expect((await put(given, [own, tab])).status).toBe(404);
    const role = await make(given, '/roles', { name: 'People', permissions: ['user.manage'] });
    await given.call('PUT', `/roles/${role}/users/acme-manager`);
    expect((await put(given, [own], managerKey)).status).toBe(404);
    expect(await dataOf(given, path)).toEqual({ tab_instances: [] });
    for (const user of ['other-admin', 'bakery-admin', 'unknown']) {
      const answer = await given.call('PUT', `/users/${user}/tab-instances`, { body: { tab_ids: [own] } });
      expect(answer.status).toBe(404);
    }
    const body = { tab_ids: [clients], client_id: 'bakery' };
    expect((await given.call('PUT', '/users/bakery-admin/tab-instances', { body })).status).toBe(200);
    expect(await pagesOf(given, '/users/bakery-admin/tab-instances?client_id=bakery', 'tab_instances')).toHaveLength(1);
  });
});
