import { describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { builderBench, builderKey, createKlip, createTab, placeKlips } from './dashboards.ts';
import { errorOf } from './people.ts';
import { type Answer, bench, keys } from './service.ts';

const worked = { meta: { success: true, status: 200 }, data: {} };
const items = ({ body }: Answer, list: string): { id: string; name: string }[] =>
  body.data[list] as { id: string; name: string }[];
const ids = (answer: Answer, list: string): string[] => items(answer, list).map(({ id }) => id);

describe("a dashboard's Klip instances (4.8)", () => {
  it("are added by the Klip's ID, and each call creates new instances with the Klip's name", async () => {
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

  it("are added all or nothing: an unknown ID, a hidden Klip's ID or an instance's ID causes a 404", async () => {
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

  it("are removed individually or with their Klip, which changes the dashboard's update time", async () => {
    const clock = new SteppingClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const [tab, other] = [await createTab(given), await createTab(given)];
    const [orders, costs] = [await createKlip(given), await createKlip(given)];
    const placed = await placeKlips(given, tab, [{ klip_id: orders }, { klip_id: orders }, { klip_id: costs }]);
    const [elsewhere] = await placeKlips(given, other, [{ klip_id: costs }]);
    clock.advance(5_000);
    const remove = (id: string): Promise<Answer> => given.call('DELETE', `/tabs/${tab}/klip-instances/${id}`);
    expect(errorOf(await remove(elsewhere!.id))).toEqual([404, 'not_found']);
    expect(errorOf(await remove(orders))).toEqual([404, 'not_found']);
    expect((await remove(placed[0]!.id)).body).toEqual(worked);
    expect(errorOf(await remove(placed[0]!.id))).toEqual([404, 'not_found']);
    expect((await given.call('GET', `/tabs/${tab}`)).body.data.last_updated).toBe('2026-03-01T10:00:05Z');
    await given.call('DELETE', `/klips/${costs}`);
    expect(ids(await given.call('GET', `/tabs/${tab}/klip-instances`), 'klip_instances')).toEqual([placed[1]!.id]);
    expect(ids(await given.call('GET', `/tabs/${other}/klip-instances`), 'klip_instances')).toEqual([]);
  });
});
