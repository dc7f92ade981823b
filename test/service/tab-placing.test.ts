import { describe, expect, it } from 'vitest';
import { createKlip, createTab, placeKlips } from './dashboards.ts';
import { dashboard, places, writeLayout } from './layouts.ts';
import { type Bench, bench } from './service.ts';

describe('placing Klips in a layout (4.8)', () => {
  const placing = async (given: Bench, tab: string, klip: string, at: object = {}): Promise<string> =>
    (await placeKlips(given, tab, [{ klip_id: klip, ...at }]))[0]!.id;

  it('adds them at the top of region 1 by default, and moves existing ones down', async () => {
    const given = await bench();
    const [tab, klip] = [await createTab(given), await createKlip(given)];
    const first = await placing(given, tab, klip);
    expect(await places(given, tab, [first])).toEqual([[0, 0, 1]]);
    const second = await placing(given, tab, klip);
    const third = await placing(given, tab, klip, { region: 3, position: 1 });
    expect(await places(given, tab, [second, first, third])).toEqual([
      [0, 0, 1],
      [0, 1, 1],
      [2, 1, 1],
    ]);
  });

  it('moves whole rows of a grid, so that wide cells never overlap others', async () => {
    const given = await bench();
    const { tab, klip, ids } = await dashboard(given, 3);
    const itemConfigs = [
      { id: ids[0], index: [0, 0], colSpan: 2 },
      { id: ids[1], index: [2, 0] },
      { id: ids[2], index: [0, 1] },
    ];
    await writeLayout(given, tab, { type: 'grid', state: { desktop: { itemConfigs, cols: 3 } } });
    const beside = await placing(given, tab, klip, { region: 3, position: 1 });
    expect(await places(given, tab, [...ids, beside])).toEqual([
      [0, 0, 2],
      [2, 0, 1],
      [0, 1, 1],
      [2, 1, 1],
    ]);
    const above = await placing(given, tab, klip, { region: 2, position: 0 });
    expect(await places(given, tab, [above, ...ids, beside])).toEqual([
      [1, 0, 1],
      [0, 1, 2],
      [2, 1, 1],
      [0, 2, 1],
      [2, 2, 1],
    ]);
    const body = { klips: [{ klip_id: klip, region: 4 }] };
    expect((await given.call('PUT', `/tabs/${tab}/klip-instances`, { body })).status).toBe(400);
  });

  it("moves only the chosen region of a column layout, and rejects regions that the layout's type doesn't have", async () => {
    const given = await bench();
    const { tab, klip, ids } = await dashboard(given, 2);
    const [left, right] = ids;
    const state = { [left!]: { region: '1', idx: 0 }, [right!]: { region: '2', idx: 0 } };
    await writeLayout(given, tab, { type: '60_30', state });
    const above = await placing(given, tab, klip, { region: 2 });
    expect(await places(given, tab, [left!, right!, above])).toEqual([
      [0, 0, 2],
      [2, 1, 1],
      [2, 0, 1],
    ]);
    const body = { klips: [{ klip_id: klip, region: 3 }] };
    expect((await given.call('PUT', `/tabs/${tab}/klip-instances`, { body })).status).toBe(400);
  });
});
