import { describe, expect, it } from 'vitest';
import { layoutTypes, makeRoom } from '../../src/service/tab-layout.ts';
import { createTab } from './dashboards.ts';
import { dashboard, places, readLayout, writeLayout } from './layouts.ts';
import { bench } from './service.ts';

/** Two instances in each region of a layout. */
const inPairs = (ids: readonly string[]): Record<string, object> =>
  Object.fromEntries(ids.map((id, at) => [id, { region: String(Math.floor(at / 2) + 1), idx: at % 2 }]));

describe("a dashboard's layout (2.8, 4.8)", () => {
  it('is initially empty and six columns wide', async () => {
    const given = await bench();
    expect(await readLayout(given, await createTab(given))).toEqual({
      type: 'grid',
      state: { desktop: { itemConfigs: [], colWidths: Array(6).fill('auto'), cols: 6 } },
    });
  });

  it('can be written as a grid, is read back unchanged, and can be written again', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 2);
    const itemConfigs = [
      { id: `gridklip-${ids[0]}`, index: [0, 0], colSpan: 3, minHeight: 210, height: 400 },
      { id: `gridklip-${ids[1]}`, index: [1, 2], colSpan: 1, minHeight: 0 },
    ];
    const desktop = { itemConfigs, colWidths: ['auto', 'auto', 'auto'], cols: 3 };
    const answer = await writeLayout(given, tab, { type: 'grid', state: { desktop } });
    expect(answer.body).toEqual({ meta: { success: true, status: 200 }, data: {} });
    const grid = await readLayout(given, tab);
    expect(grid).toEqual({ type: 'grid', state: { desktop } });
    expect((await writeLayout(given, tab, grid)).status).toBe(200);
    expect(await readLayout(given, tab)).toEqual(grid);
  });

  it("requires only IDs and positions for a grid, and computes the grid's width", async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 2);
    const itemConfigs = [
      { id: ids[0], index: [7, 0], height: null },
      { id: `gridklip-${ids[1]}`, index: [0, 1], colSpan: 2, unknown: true },
    ];
    expect((await writeLayout(given, tab, { type: 'grid', state: { desktop: { itemConfigs } } })).status).toBe(200);
    const { desktop } = (await readLayout(given, tab)).state;
    expect([desktop.cols, desktop.colWidths.length]).toEqual([8, 8]);
    expect(desktop.itemConfigs).toEqual([
      { id: `gridklip-${ids[0]}`, index: [7, 0], colSpan: 1, minHeight: 0 },
      { id: `gridklip-${ids[1]}`, index: [0, 1], colSpan: 2, minHeight: 0 },
    ]);
  });

  it('can also be written as a grid that uses region and idx, with columns counted from 1 and rows from 0', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 2);
    const state = { [ids[0]!]: { region: '2', idx: 0 }, [ids[1]!]: { region: 'region-7', idx: 3 } };
    expect((await writeLayout(given, tab, { type: 'grid', state })).status).toBe(200);
    expect(await places(given, tab, ids)).toEqual([
      [1, 0, 1],
      [6, 3, 1],
    ]);
    expect((await readLayout(given, tab)).state.desktop.cols).toBe(7);
  });

  it.each([
    ['100', 1, '0+1'],
    ['50_50', 2, '0+1 1+1'],
    ['30_60', 3, '0+1 1+2'],
    ['60_30', 3, '0+2 2+1'],
    ['30_30_30', 3, '0+1 1+1 2+1'],
    ['100_50_50', 2, '0+2 0+1@2 1+1@2'],
    ['100_30_60', 3, '0+3 0+1@2 1+2@2'],
    ['100_60_30', 3, '0+3 0+2@2 2+1@2'],
    ['100_30_30_30', 3, '0+3 0+1@2 1+1@2 2+1@2'],
    ['50_50_100', 2, '0+1 1+1 0+2@2'],
    ['30_60_100', 3, '0+1 1+2 0+3@2'],
    ['60_30_100', 3, '0+2 2+1 0+3@2'],
    ['30_30_30_100', 3, '0+1 1+1 2+1 0+3@2'],
    ['100_50_50_100', 2, '0+2 0+1@2 1+1@2 0+2@4'],
    ['100_30_60_100', 3, '0+3 0+1@2 1+2@2 0+3@4'],
    ['100_60_30_100', 3, '0+3 0+2@2 2+1@2 0+3@4'],
    ['100_30_30_30_100', 3, '0+3 0+1@2 1+1@2 2+1@2 0+3@4'],
  ] as const)('of type %s is read as a grid of %i columns: column+width@row %s', async (type, cols, expected) => {
    const regions = expected.split(' ').map((one) => one.split(/[+@]/).map(Number) as [number, number, number?]);
    const given = await bench();
    const { tab, ids } = await dashboard(given, regions.length * 2);
    expect((await writeLayout(given, tab, { type, state: inPairs(ids) })).status).toBe(200);
    const { desktop } = (await readLayout(given, tab)).state;
    expect([desktop.cols, desktop.colWidths]).toEqual([cols, Array(cols).fill('auto')]);
    const wanted = regions.flatMap(([column, span, row = 0]) => [
      [column, row, span],
      [column, row + 1, span],
    ]);
    expect(await places(given, tab, ids)).toEqual(wanted);
    const [first] = ids;
    const beyond = { [first!]: { region: String(regions.length + 1), idx: 0 } };
    expect((await writeLayout(given, tab, { type, state: beyond })).status).toBe(400);
  });

  it('accepts only the 18 existing types', async () => {
    const given = await bench();
    const tab = await createTab(given);
    expect(layoutTypes).toHaveLength(18);
    for (const type of layoutTypes) expect((await writeLayout(given, tab, { type, state: {} })).status).toBe(200);
    for (const type of ['', '30', '50', 'GRID', '100_100', 'toString', 7]) {
      expect((await writeLayout(given, tab, { type, state: {} })).status).toBe(400);
    }
  });

  it("sorts a region's instances by idx, and then in the order in which they were placed", async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 4);
    const idx = [9, 3, 9, 0];
    const state = Object.fromEntries(ids.map((id, at) => [id, { region: 1, idx: idx[at] }]));
    await writeLayout(given, tab, { type: '100', state });
    expect(await places(given, tab, ids)).toEqual([
      [0, 2, 1],
      [0, 1, 1],
      [0, 3, 1],
      [0, 0, 1],
    ]);
  });

  it('starts a band below the longest region above it, and gives an empty region no row', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 4);
    const at = (region: number, idx: number): object => ({ region: `${region}`, idx });
    const state = { [ids[0]!]: at(2, 0), [ids[1]!]: at(3, 0), [ids[2]!]: at(3, 1), [ids[3]!]: at(4, 0) };
    await writeLayout(given, tab, { type: '100_50_50_100', state });
    expect(await places(given, tab, ids)).toEqual([
      [0, 0, 1],
      [1, 0, 1],
      [1, 1, 1],
      [0, 2, 2],
    ]);
  });

  it('keeps the sizes of instances that move into columns', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 1);
    const cell = { id: `gridklip-${ids[0]}`, index: [0, 0], colSpan: 4, minHeight: 100, height: 300 };
    await writeLayout(given, tab, { type: 'grid', state: { desktop: { itemConfigs: [cell] } } });
    await writeLayout(given, tab, { type: '50_50', state: { [ids[0]!]: { region: '2', idx: 0 } } });
    expect((await readLayout(given, tab)).state.desktop.itemConfigs).toEqual([
      { id: `gridklip-${ids[0]}`, index: [1, 0], colSpan: 1, minHeight: 100, height: 300 },
    ]);
  });

  it.each(['columns', 'cells'])('written as %s removes the instances that it leaves out', async (shape) => {
    const given = await bench();
    const { tab, klip, ids } = await dashboard(given, 3);
    const [, kept] = ids;
    const body =
      shape === 'columns'
        ? { type: '100', state: { [kept!]: { region: '1', idx: 0 } } }
        : { type: 'grid', state: { desktop: { itemConfigs: [{ id: `gridklip-${kept}`, index: [0, 0] }] } } };
    expect((await writeLayout(given, tab, body)).status).toBe(200);
    expect(await places(given, tab, ids)).toEqual([undefined, [0, 0, 1], undefined]);
    expect((await given.call('GET', `/tabs/${tab}?full=true`)).body.data.klip_instances).toEqual([kept]);
    expect((await given.call('GET', `/klips/${ids[0]}`)).status).toBe(404);
    expect((await given.call('GET', `/klips/${klip}`)).status).toBe(200);
    expect((await writeLayout(given, tab, { type: '100', state: {} })).status).toBe(200);
    expect((await readLayout(given, tab)).state.desktop.itemConfigs).toEqual([]);
  });

  it("isn't changed if it references another dashboard's instance, a Klip, an unknown ID or an instance twice", async () => {
    const given = await bench();
    const { tab, klip, ids } = await dashboard(given, 2);
    const elsewhere = (await dashboard(given, 1)).ids[0]!;
    const before = await readLayout(given, tab);
    const { last_updated } = (await given.call('GET', `/tabs/${tab}`)).body.data;
    for (const stranger of [elsewhere, klip, 'f'.repeat(32), '', 'a/b', 'gridklip-', 'toString']) {
      const state = { [ids[0]!]: { region: '1', idx: 0 }, [stranger]: { region: '1', idx: 1 } };
      const itemConfigs = [
        { id: `gridklip-${ids[0]}`, index: [2, 2] },
        { id: `gridklip-${stranger}`, index: [0, 0] },
      ];
      for (const body of [
        { type: '50_50', state },
        { type: 'grid', state },
        { type: 'grid', state: { desktop: { itemConfigs } } },
      ]) {
        const answer = await writeLayout(given, tab, body);
        expect([answer.status, answer.body.meta.error_desc]).toEqual([
          400,
          `Field "state" contains a Klip instance that is not on the dashboard: ${stranger}`,
        ]);
      }
    }
    const [id, big] = [ids[0]!, ids[0]!.toUpperCase()];
    const itemConfigs = [id, big].map((one, row) => ({ id: `gridklip-${one}`, index: [0, row] }));
    for (const body of [
      { type: 'grid', state: { desktop: { itemConfigs } } },
      { type: '50_50', state: { [id]: { region: 1, idx: 0 }, [big]: { region: 1, idx: 1 } } },
    ]) {
      const answer = await writeLayout(given, tab, body);
      expect([answer.status, answer.body.meta.error_desc]).toEqual([400, expect.stringContaining('instance twice')]);
    }
    expect(await readLayout(given, tab)).toEqual(before);
    expect((await given.call('GET', `/tabs/${tab}`)).body.data.last_updated).toBe(last_updated);
  });
});

it('an instance covers its own columns in a grid, but not the next one', () => {
  const wide = { id: 'a', region: 1, position: 0, colSpan: 2, minHeight: 0, height: null };
  const moved = [1, 2, 3].map((region) => makeRoom({ type: 'grid', cols: 6 }, [wide], { region, position: 0 }).length);
  expect(moved).toEqual([1, 1, 0]);
});
