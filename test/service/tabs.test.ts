import { describe, expect, it, onTestFinished } from 'vitest';
import { startService } from '../../src/service/service.ts';
import { builderBench, builderKey, createKlip, createTab, placeKlips, publish } from './dashboards.ts';
import { type Answer, Bench, bench, keys, StillClock, scratch } from './service.ts';

const errorOf = ({ status, body }: Answer): unknown => [status, body.meta.error_code];
const worked = { meta: { success: true, status: 200 }, data: {} };
const items = ({ body }: Answer, list: string): { id: string; name: string }[] =>
  body.data[list] as { id: string; name: string }[];
const ids = (answer: Answer, list: string): string[] => items(answer, list).map(({ id }) => id);

/** Names that break what takes names for ASCII, markup or SQL. */
const hostile = [
  'Ünï çødé',
  '名前',
  '👩‍👩‍👧',
  "x'; drop table tabs;--",
  '\u202eabc',
  '<b>&amp;',
  'a\u0000b',
  '__proto__',
];

describe('dashboards (2.7, 4.8)', () => {
  it('are created with a name, listed in short and read in detail', async () => {
    const clock = new StillClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const created = await given.call('POST', '/tabs', { key: keys.acmeEditor, body: { name: 'Sales' } });
    const id = created.body.meta.location!.split('/')[2]!;
    expect(created.body).toEqual({ meta: { success: true, status: 201, location: `/tabs/${id}` }, data: {} });
    expect((await given.call('GET', '/tabs')).body).toEqual({
      meta: { success: true, status: 200, count: 1, total: 1 },
      data: { tabs: [{ id, name: 'Sales', description: '' }] },
    });
    clock.pass(60_000);
    expect((await given.call('PUT', `/tabs/${id}`, { body: { description: 'By region', name: null } })).body).toEqual(
      worked,
    );
    const detail = {
      id,
      company: 'acme',
      name: 'Sales',
      description: 'By region',
      created_by: 'acme-editor',
      last_updated: '2026-03-01T10:01:00.000Z',
    };
    expect((await given.call('GET', `/tabs/${id}`)).body.data).toEqual(detail);
    expect((await given.call('GET', `/tabs/${id}?full=false`)).body.data).toEqual(detail);
    expect((await given.call('GET', `/tabs/${id}?full=true`)).body.data).toEqual({
      ...detail,
      klip_instances: [],
      share_rights: [],
      user_share_rights: [],
    });
  });

  it('keep names of any Unicode', async () => {
    const given = await bench();
    for (const name of hostile) await createTab(given, { name, description: name });
    const listed = (await given.call('GET', '/tabs')).body.data.tabs as { name: string; description: string }[];
    expect(listed.map(({ name }) => name).toSorted()).toEqual(hostile.toSorted());
    expect(listed.map(({ description }) => description).toSorted()).toEqual(hostile.toSorted());
  });

  it('come in pages, in the order of creation', async () => {
    const clock = new StillClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const all: string[] = [];
    for (let i = 0; i < 27; i++) {
      all.push(await createTab(given));
      clock.pass(1);
    }
    const page = async (query: string): Promise<unknown> => {
      const answer = await given.call('GET', `/tabs${query}`);
      return [answer.body.meta.count, answer.body.meta.total, ids(answer, 'tabs')];
    };
    expect(await page('')).toEqual([25, 27, all.slice(0, 25)]);
    expect(await page('?offset=25')).toEqual([2, 27, all.slice(25)]);
    expect(await page('?offset=3&limit=2')).toEqual([2, 27, all.slice(3, 5)]);
    expect(await page('?offset=27')).toEqual([0, 27, []]);
  });

  it('of another company or of a client are not there, whatever is asked of them', async () => {
    const given = await bench();
    const theirs = await createTab(given, {}, { key: keys.otherAdmin });
    const clients = await createTab(given, { client_id: 'bakery' });
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['PUT', '', { name: 'mine' }],
      ['DELETE', ''],
      ['GET', '/klip-instances'],
      ['PUT', '/klip-instances', { klips: [] }],
      ['DELETE', '/klip-instances/x'],
      ['GET', '/layout'],
      ['PUT', '/layout', { type: 'grid', state: {} }],
      ['GET', '/share-rights'],
      ['PUT', '/share-rights', { groups: [] }],
      ['DELETE', '/share-rights/acme-team'],
    ];
    for (const id of [theirs, clients]) {
      for (const [method, path, body] of calls) {
        const answer = await given.call(method, `/tabs/${id}${path}`, { body: body ?? null });
        expect([method, path, answer.status]).toEqual([method, path, 404]);
      }
    }
    expect(ids(await given.call('GET', '/tabs'), 'tabs')).toEqual([]);
    expect(ids(await given.call('GET', '/tabs?client_id=bakery'), 'tabs')).toEqual([clients]);
    expect((await given.call('GET', `/tabs/${clients}?client_id=bakery`)).body.data).toMatchObject({
      company: 'bakery',
      created_by: 'acme-admin',
    });
    expect((await given.call('GET', `/tabs/${clients}`, { key: keys.clientAdmin })).status).toBe(200);
  });

  it('are seen by who created them, who they are shared with and who administers', async () => {
    const given = await bench();
    const id = await createTab(given, {}, { key: keys.acmeEditor });
    const seen = async (key: string): Promise<boolean[]> => [
      ids(await given.call('GET', '/tabs', { key }), 'tabs').includes(id),
      (await given.call('GET', `/tabs/${id}`, { key })).status === 200,
    ];
    expect(await seen(keys.acmeEditor)).toEqual([true, true]);
    expect(await seen(keys.acmeAdmin)).toEqual([true, true]);
    expect(await seen(keys.acmeViewer)).toEqual([false, false]);
    await given.call('PUT', `/tabs/${id}/share-rights`, { body: { groups: [{ group_id: 'acme-team' }] } });
    expect(await seen(keys.acmeViewer)).toEqual([true, true]);
    expect(await seen(keys.acmeReporter)).toEqual([false, false]);
  });

  it('that are deleted take their instances, shares and published links along, and leave the Klips', async () => {
    const given = await bench();
    const klip = await createKlip(given);
    const id = await createTab(given);
    const [instance] = await placeKlips(given, id, [{ klip_id: klip }]);
    const link = await publish(given, id);
    expect((await given.call('DELETE', `/tabs/${id}`)).body).toEqual(worked);
    for (const path of [
      `/tabs/${id}`,
      `/tabs/${id}/layout`,
      `/klips/${instance!.id}`,
      `/dashboard-published-links/${link}`,
    ]) {
      expect((await given.call('GET', path)).status).toBe(404);
    }
    expect((await given.call('GET', `/klips/${klip}`)).status).toBe(200);
  });

  it('outlive a restart with their instances, layout, shares and links', async () => {
    const folder = await scratch();
    const first = await bench({ data: { folder } });
    const id = await createTab(first);
    const klip = await createKlip(first);
    const [left, right] = await placeKlips(first, id, [{ klip_id: klip }, { klip_id: klip }]);
    const state = { [left!.id]: { region: '1', idx: 0 }, [right!.id]: { region: '2', idx: 0 } };
    await first.call('PUT', `/tabs/${id}/layout`, { body: { type: '60_30', state } });
    await first.call('PUT', `/tabs/${id}/share-rights`, { body: { groups: [{ group_id: 'acme-team' }] } });
    const link = await publish(first, id);
    const paths = [`/tabs/${id}?full=true`, `/tabs/${id}/layout`, `/dashboard-published-links?dashboard_id=${id}`];
    const show = async (given: Bench): Promise<unknown[]> => {
      const answers = await Promise.all(
        paths.map((path) => given.call('GET', path, { headers: { host: 'dash.test' } })),
      );
      return answers.map(({ body }) => body.data);
    };
    const before = await show(first);
    expect(JSON.stringify(before)).toContain(link);
    await first.service.close();
    const second = new Bench(await startService({ data: { folder }, limits: false }));
    onTestFinished(() => second.close());
    expect(await show(second)).toEqual(before);
  });
});

describe('Klip instances of a dashboard (4.8)', () => {
  it('are placed by the id of a Klip, as new instances each time, with the name of the Klip', async () => {
    const given = await bench();
    const [tab, orders, costs] = [
      await createTab(given),
      await createKlip(given),
      await createKlip(given, { name: 'Costs' }),
    ];
    const placed = await placeKlips(given, tab, [
      { klip_id: orders },
      { klip_id: costs, region: 2 },
      { klip_id: orders },
    ]);
    expect(placed.map(({ klip_id, name }) => [klip_id, name])).toEqual([
      [orders, 'Orders'],
      [costs, 'Costs'],
      [orders, 'Orders'],
    ]);
    expect(new Set([orders, costs, ...placed.map(({ id }) => id)]).size).toBe(5);
    const listed = await given.call('GET', `/tabs/${tab}/klip-instances`);
    expect(listed.body).toEqual({
      meta: { success: true, status: 200, count: 3, total: 3 },
      data: { klip_instances: placed },
    });
    const second = await given.call('GET', `/tabs/${tab}/klip-instances?offset=1&limit=1`);
    expect([second.body.meta.count, second.body.meta.total, ids(second, 'klip_instances')]).toEqual([
      1,
      3,
      [placed[1]!.id],
    ]);
    expect((await given.call('GET', `/tabs/${tab}?full=true`)).body.data.klip_instances).toEqual(
      placed.map(({ id }) => id),
    );
    expect((await given.call('GET', `/klips/${placed[1]!.id}`)).body.data).toMatchObject({
      id: placed[1]!.id,
      name: 'Costs',
    });
    await given.call('PUT', `/klips/${costs}`, { body: { name: 'Spending' } });
    expect(items(await given.call('GET', `/tabs/${tab}/klip-instances`), 'klip_instances')[1]!.name).toBe('Spending');
  });

  it('are placed all or none: a Klip that is not there, not seen or really an instance is a 404', async () => {
    const given = await builderBench();
    const tab = await createTab(given);
    const klip = await createKlip(given);
    const [instance] = await placeKlips(given, tab, [{ klip_id: klip }]);
    const strangers = [
      'f'.repeat(32),
      instance!.id,
      await createKlip(given, {}, { key: keys.otherAdmin }),
      await createKlip(given, { client_id: 'bakery' }),
    ];
    for (const stranger of strangers) {
      const body = { klips: [{ klip_id: klip }, { klip_id: stranger }] };
      expect(errorOf(await given.call('PUT', `/tabs/${tab}/klip-instances`, { body }))).toEqual([404, 'not_found']);
    }
    const unseen = await given.call('PUT', `/tabs/${await createTab(given, {}, { key: builderKey })}/klip-instances`, {
      key: builderKey,
      body: { klips: [{ klip_id: klip }] },
    });
    expect(errorOf(unseen)).toEqual([404, 'not_found']);
    const far = { klips: [{ klip_id: klip }, { klip_id: klip, region: 7 }] };
    expect(errorOf(await given.call('PUT', `/tabs/${tab}/klip-instances`, { body: far }))).toEqual([
      400,
      'bad_request',
    ]);
    expect(ids(await given.call('GET', `/tabs/${tab}/klip-instances`), 'klip_instances')).toEqual([instance!.id]);
  });

  it('are taken off one by one, and go when their Klip does; the dashboard notes the change', async () => {
    const clock = new StillClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const [tab, other] = [await createTab(given), await createTab(given)];
    const [orders, costs] = [await createKlip(given), await createKlip(given)];
    const placed = await placeKlips(given, tab, [{ klip_id: orders }, { klip_id: orders }, { klip_id: costs }]);
    const [elsewhere] = await placeKlips(given, other, [{ klip_id: costs }]);
    clock.pass(5_000);
    const remove = (id: string): Promise<Answer> => given.call('DELETE', `/tabs/${tab}/klip-instances/${id}`);
    expect(errorOf(await remove(elsewhere!.id))).toEqual([404, 'not_found']);
    expect(errorOf(await remove(orders))).toEqual([404, 'not_found']);
    expect((await remove(placed[0]!.id)).body).toEqual(worked);
    expect(errorOf(await remove(placed[0]!.id))).toEqual([404, 'not_found']);
    expect((await given.call('GET', `/tabs/${tab}`)).body.data.last_updated).toBe('2026-03-01T10:00:05.000Z');
    await given.call('DELETE', `/klips/${costs}`);
    expect(ids(await given.call('GET', `/tabs/${tab}/klip-instances`), 'klip_instances')).toEqual([placed[1]!.id]);
    expect(ids(await given.call('GET', `/tabs/${other}/klip-instances`), 'klip_instances')).toEqual([]);
  });
});

describe('share rights of a dashboard', () => {
  it('let groups and users see it, and change it only with can_edit', async () => {
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

  it('are needed to change by whoever may do everything with what is theirs', async () => {
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

  it('are given whole or not at all, and end one by one', async () => {
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
