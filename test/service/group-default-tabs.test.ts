import { describe, expect, it } from 'vitest';
import { createKlip, createTab, placeKlips } from './dashboards.ts';
import { dataOf, errorOf, make, managerKey, pagesOf, peopleBench } from './people.ts';
import { type Answer, type Bench, keys } from './service.ts';

const path = '/groups/acme-team/default-tabs';
const sees = async (given: Bench, tab: string, key: string): Promise<boolean> =>
  (await given.call('GET', `/tabs/${tab}`, { key })).status === 200;

describe("a group's default dashboards (section 4.9)", () => {
  it('are returned as they were set, in the list and in detail, which includes the number of Klips', async () => {
    const given = await peopleBench();
    const tab = await createTab(given, { name: 'Sales', description: 'what is sold' });
    const shared = await createKlip(given);
    const hidden = await createKlip(given);
    await placeKlips(given, tab, [{ klip_id: shared }, { klip_id: shared }, { klip_id: hidden }]);
    const groups = [{ group_id: 'acme-team' }];
    await given.call('PUT', `/klips/${shared}/share-rights`, { body: { groups } });
    const id = await make(given, path, { tab_id: tab, can_edit: true, visibility: 'permanent', index: 4, extra: null });
    const item = { id, tab_id: tab, tab_name: 'Sales', description: 'what is sold', can_edit: true };
    const listed = { ...item, visibility: 'permanent', index: 4 };
    expect(await pagesOf(given, path, 'tabs')).toEqual([listed]);
    expect(await dataOf(given, `${path}/${id}`)).toEqual({ ...listed, klips_shared: 2, total_klips: 3 });
  });

  it('are sorted by index, and those without an index come last', async () => {
    const given = await peopleBench();
    const add = async (name: string, more: object): Promise<string> =>
      make(given, path, { tab_id: await createTab(given, { name }), ...more });
    await add('third', { index: 7 });
    const last = await add('last', {});
    await add('second', { index: 1 });
    await add('first', { index: 0 });
    const names = async () =>
      ((await pagesOf(given, path, 'tabs')) as { tab_name: string; index: number }[]).map(({ tab_name, index }) => [
        tab_name,
        index,
      ]);
    expect(await names()).toEqual([
      ['first', 0],
      ['second', 1],
      ['third', 7],
      ['last', 8],
    ]);
    expect((await given.call('PUT', `${path}/${last}`, { body: { index: 0, visibility: null } })).body.data).toEqual(
      {},
    );
    expect((await names()).map(([name]) => name)).toEqual(['last', 'first', 'second', 'third']);
    expect(await dataOf(given, `${path}/${last}`)).toMatchObject({ visibility: 'library', can_edit: false, index: 0 });
    expect(await dataOf(given, `${path}/${last}`)).toMatchObject({ description: null });
  });

  it("are shared with the group, for viewing or editing, for as long as they're its defaults", async () => {
    const given = await peopleBench();
    const tab = await createTab(given);
    expect(await sees(given, tab, keys.acmeViewer)).toBe(false);
    const id = await make(given, path, { tab_id: tab });
    expect(await sees(given, tab, keys.acmeViewer)).toBe(true);
    const right = { group_id: 'acme-team', group_name: 'Team' };
    const rights = async () => (await dataOf(given, `/tabs/${tab}/share-rights`)).share_rights;
    expect(await rights()).toEqual([{ ...right, can_edit: false }]);
    await given.call('PUT', `${path}/${id}`, { body: { can_edit: true } });
    expect(await rights()).toEqual([{ ...right, can_edit: true }]);
    expect((await given.call('DELETE', `${path}/${id}`)).status).toBe(200);
    expect(await rights()).toEqual([]);
    expect(await sees(given, tab, keys.acmeViewer)).toBe(false);
    expect((await given.call('DELETE', `${path}/${id}`)).status).toBe(404);
  });

  it("can't be added twice", async () => {
    const given = await peopleBench();
    const tab = await createTab(given);
    await make(given, path, { tab_id: tab });
    expect(errorOf(await given.call('POST', path, { body: { tab_id: tab } }))).toEqual([403, 'forbidden']);
    expect(await pagesOf(given, path, 'tabs')).toHaveLength(1);
  });

  it('can be added only by users who can edit the dashboard, which must be in the same account', async () => {
    const given = await peopleBench();
    const theirs = await createTab(given, {}, { key: keys.otherAdmin });
    const clients = await createTab(given, { client_id: 'bakery' });
    const role = await make(given, '/roles', { name: 'People', permissions: ['user.manage', 'dashboard.library'] });
    await given.call('PUT', `/roles/${role}/users/acme-manager`);
    const own = await createTab(given);
    const add = (tab_id: string, key: string = keys.acmeAdmin): Promise<Answer> =>
      given.call('POST', path, { key, body: { tab_id } });
    for (const tab of [theirs, clients, 'unknown']) expect((await add(tab)).status).toBe(404);
    expect((await add(own, managerKey)).status).toBe(404);
    const seen = { groups: [], users: [{ user_id: 'acme-manager' }] };
    await given.call('PUT', `/tabs/${own}/share-rights`, { body: seen });
    expect(errorOf(await add(own, managerKey))).toEqual([403, 'forbidden']);
    expect(await dataOf(given, path)).toEqual({ tabs: [] });
    for (const group of ['other-team', 'bakery-team', 'unknown']) {
      const at = `/groups/${group}/default-tabs`;
      expect((await given.call('GET', at)).status).toBe(404);
      expect((await given.call('POST', at, { body: { tab_id: own } })).status).toBe(404);
    }
    const body = { tab_id: clients, client_id: 'bakery' };
    expect((await given.call('POST', '/groups/bakery-team/default-tabs', { body })).status).toBe(201);
    expect(await pagesOf(given, '/groups/bakery-team/default-tabs?client_id=bakery', 'tabs')).toHaveLength(1);
  });

  it('belong to one group, are hidden from other groups, and are deleted with the group or the dashboard', async () => {
    const given = await peopleBench();
    const tab = await createTab(given);
    const id = await make(given, path, { tab_id: tab });
    const sales = await make(given, '/groups', { name: 'Sales' });
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await given.call(method, `/groups/${sales}/default-tabs/${id}`)).status).toBe(404);
    }
    await make(given, `/groups/${sales}/default-tabs`, { tab_id: tab });
    await given.call('DELETE', `/groups/${sales}`);
    expect(await pagesOf(given, path, 'tabs')).toHaveLength(1);
    await given.call('DELETE', `/tabs/${tab}`);
    expect(await pagesOf(given, path, 'tabs')).toEqual([]);
  });
});
