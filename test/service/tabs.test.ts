import { describe, expect, it, onTestFinished } from 'vitest';
import { startService } from '../../src/service/service.ts';
import { SteppingClock } from '../clocks.ts';
import { createKlip, createTab, placeKlips, publish } from './dashboards.ts';
import { hostileNames } from './people.ts';
import { type Answer, Bench, bench, keys, scratch } from './service.ts';

const worked = { meta: { success: true, status: 200 }, data: {} };
const items = ({ body }: Answer, list: string): { id: string; name: string }[] =>
  body.data[list] as { id: string; name: string }[];
const ids = (answer: Answer, list: string): string[] => items(answer, list).map(({ id }) => id);

describe('dashboards (2.7, 4.8)', () => {
  it('are created with a name, listed in short form and read in detail', async () => {
    const clock = new SteppingClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const created = await given.call('POST', '/tabs', { key: keys.acmeEditor, body: { name: 'Sales' } });
    const id = created.body.meta.location!.split('/')[2]!;
    expect(created.body).toEqual({ meta: { success: true, status: 201, location: `/tabs/${id}` }, data: {} });
    expect((await given.call('GET', '/tabs')).body).toEqual({
      meta: { success: true, status: 200, count: 1, total: 1 },
      data: { tabs: [{ id, name: 'Sales', description: '' }] },
    });
    clock.advance(60_000);
    expect((await given.call('PUT', `/tabs/${id}`, { body: { description: 'By region', name: null } })).body).toEqual(
      worked,
    );
    const detail = {
      id,
      company: 'Acme',
      name: 'Sales',
      description: 'By region',
      created_by: 'acme-editor',
      last_updated: '2026-03-01T10:01:00Z',
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

  it('keep names with any Unicode characters', async () => {
    const given = await bench();
    for (const name of hostileNames) await createTab(given, { name, description: name });
    const listed = (await given.call('GET', '/tabs')).body.data.tabs as { name: string; description: string }[];
    expect(listed.map(({ name }) => name).toSorted()).toEqual(hostileNames.toSorted());
    expect(listed.map(({ description }) => description).toSorted()).toEqual(hostileNames.toSorted());
  });

  it('are paged in creation order', async () => {
    const clock = new SteppingClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const all: string[] = [];
    for (let i = 0; i < 27; i++) {
      all.push(await createTab(given));
      clock.advance(1);
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

  it("of another company or of a client aren't found by any call", async () => {
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
      company: 'Bakery',
      created_by: 'acme-admin',
    });
    expect((await given.call('GET', `/tabs/${clients}`, { key: keys.clientAdmin })).status).toBe(200);
  });

  it("are visible only to their creator, to the users and groups they're shared with, and to administrators", async () => {
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

  it('are deleted with their instances, shares and published links, but their Klips remain', async () => {
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

  it('survive a restart with their instances, layout, shares and links', async () => {
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
