import { describe, expect, it } from 'vitest';
import { layoutTypes } from '../../src/service/tab-layout.ts';
import { createKlip, createTab, placeKlips } from './dashboards.ts';
import { type Answer, type Bench, bench } from './service.ts';

interface Cell {
  readonly id: string;
  readonly index: [number, number];
  readonly colSpan: number;
  readonly minHeight: number;
  readonly height?: number;
}

interface Grid {
  readonly type: string;
  readonly state: { readonly desktop: { itemConfigs: Cell[]; colWidths: string[]; cols: number } };
}

const read = async (given: Bench, tab: string): Promise<Grid> =>
  (await given.call('GET', `/tabs/${tab}/layout`)).body.data as unknown as Grid;
const write = (given: Bench, tab: string, body: object): Promise<Answer> =>
  given.call('PUT', `/tabs/${tab}/layout`, { body });

/** A dashboard with Klips on it, in region 1 from the top. */
async function dashboard(given: Bench, klips: number): Promise<{ tab: string; klip: string; ids: string[] }> {
  const [tab, klip] = [await createTab(given), await createKlip(given)];
  const placed = await placeKlips(
    given,
    tab,
    Array.from({ length: klips }, (_none, position) => ({ klip_id: klip, position })),
  );
  return { tab, klip, ids: placed.map(({ id }) => id) };
}

/** Where each instance stands: column, row and width, by the order of the ids. */
async function places(given: Bench, tab: string, ids: readonly string[]): Promise<unknown[]> {
  const { itemConfigs } = (await read(given, tab)).state.desktop;
  return ids.map((id) => {
    const cell = itemConfigs.find((one) => one.id === `gridklip-${id}`);
    return cell && [...cell.index, cell.colSpan];
  });
}

/** Two instances in each region of a layout. */
const inPairs = (ids: readonly string[]): Record<string, object> =>
  Object.fromEntries(ids.map((id, at) => [id, { region: String(Math.floor(at / 2) + 1), idx: at % 2 }]));

describe('the layout of a dashboard (2.8, 4.8)', () => {
  it('is empty and six columns wide at first', async () => {
    const given = await bench();
    expect(await read(given, await createTab(given))).toEqual({
      type: 'grid',
      state: { desktop: { itemConfigs: [], colWidths: Array(6).fill('auto'), cols: 6 } },
    });
  });

  it('is written as a grid and read back the same, and takes back what was read', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 2);
    const itemConfigs = [
      { id: `gridklip-${ids[0]}`, index: [0, 0], colSpan: 3, minHeight: 210, height: 400 },
      { id: `gridklip-${ids[1]}`, index: [1, 2], colSpan: 1, minHeight: 0 },
    ];
    const desktop = { itemConfigs, colWidths: ['auto', 'auto', 'auto'], cols: 3 };
    const answer = await write(given, tab, { type: 'grid', state: { desktop } });
    expect(answer.body).toEqual({ meta: { success: true, status: 200 }, data: {} });
    const grid = await read(given, tab);
    expect(grid).toEqual({ type: 'grid', state: { desktop } });
    expect((await write(given, tab, grid)).status).toBe(200);
    expect(await read(given, tab)).toEqual(grid);
  });

  it('needs of a grid no more than ids and places, and finds out how wide it is', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 2);
    const itemConfigs = [
      { id: ids[0], index: [7, 0], height: null },
      { id: `gridklip-${ids[1]}`, index: [0, 1], colSpan: 2, unknown: true },
    ];
    expect((await write(given, tab, { type: 'grid', state: { desktop: { itemConfigs } } })).status).toBe(200);
    const { desktop } = (await read(given, tab)).state;
    expect([desktop.cols, desktop.colWidths.length]).toEqual([8, 8]);
    expect(desktop.itemConfigs).toEqual([
      { id: `gridklip-${ids[0]}`, index: [7, 0], colSpan: 1, minHeight: 0 },
      { id: `gridklip-${ids[1]}`, index: [0, 1], colSpan: 2, minHeight: 0 },
    ]);
  });

  it('is written as a grid by region and idx as well: column from 1, row from 0', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 2);
    const state = { [ids[0]!]: { region: '2', idx: 0 }, [ids[1]!]: { region: 'region-7', idx: 3 } };
    expect((await write(given, tab, { type: 'grid', state })).status).toBe(200);
    expect(await places(given, tab, ids)).toEqual([
      [1, 0, 1],
      [6, 3, 1],
    ]);
    expect((await read(given, tab)).state.desktop.cols).toBe(7);
  });

  it.each([
    ['100', 1, [[0, 1]]],
    [
      '50_50',
      2,
      [
        [0, 1],
        [1, 1],
      ],
    ],
    [
      '30_60',
      3,
      [
        [0, 1],
        [1, 2],
      ],
    ],
    [
      '60_30',
      3,
      [
        [0, 2],
        [2, 1],
      ],
    ],
    [
      '30_30_30',
      3,
      [
        [0, 1],
        [1, 1],
        [2, 1],
      ],
    ],
    [
      '100_50_50',
      2,
      [
        [0, 2],
        [0, 1, 2],
        [1, 1, 2],
      ],
    ],
    [
      '100_30_60',
      3,
      [
        [0, 3],
        [0, 1, 2],
        [1, 2, 2],
      ],
    ],
    [
      '100_60_30',
      3,
      [
        [0, 3],
        [0, 2, 2],
        [2, 1, 2],
      ],
    ],
    [
      '100_30_30_30',
      3,
      [
        [0, 3],
        [0, 1, 2],
        [1, 1, 2],
        [2, 1, 2],
      ],
    ],
    [
      '50_50_100',
      2,
      [
        [0, 1],
        [1, 1],
        [0, 2, 2],
      ],
    ],
    [
      '30_60_100',
      3,
      [
        [0, 1],
        [1, 2],
        [0, 3, 2],
      ],
    ],
    [
      '60_30_100',
      3,
      [
        [0, 2],
        [2, 1],
        [0, 3, 2],
      ],
    ],
    [
      '30_30_30_100',
      3,
      [
        [0, 1],
        [1, 1],
        [2, 1],
        [0, 3, 2],
      ],
    ],
    [
      '100_50_50_100',
      2,
      [
        [0, 2],
        [0, 1, 2],
        [1, 1, 2],
        [0, 2, 4],
      ],
    ],
    [
      '100_30_60_100',
      3,
      [
        [0, 3],
        [0, 1, 2],
        [1, 2, 2],
        [0, 3, 4],
      ],
    ],
    [
      '100_60_30_100',
      3,
      [
        [0, 3],
        [0, 2, 2],
        [2, 1, 2],
        [0, 3, 4],
      ],
    ],
    [
      '100_30_30_30_100',
      3,
      [
        [0, 3],
        [0, 1, 2],
        [1, 1, 2],
        [2, 1, 2],
        [0, 3, 4],
      ],
    ],
  ] as const)('of type %s is read as a grid of %i columns', async (type, cols, regions) => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, regions.length * 2);
    expect((await write(given, tab, { type, state: inPairs(ids) })).status).toBe(200);
    const { desktop } = (await read(given, tab)).state;
    expect([desktop.cols, desktop.colWidths]).toEqual([cols, Array(cols).fill('auto')]);
    const expected = regions.flatMap(([column, span, row = 0]) => [
      [column, row, span],
      [column, row + 1, span],
    ]);
    expect(await places(given, tab, ids)).toEqual(expected);
    const [first] = ids;
    const beyond = { [first!]: { region: String(regions.length + 1), idx: 0 } };
    expect((await write(given, tab, { type, state: beyond })).status).toBe(400);
  });

  it('can be of each type that there is, and of no other', async () => {
    const given = await bench();
    const tab = await createTab(given);
    expect(layoutTypes).toHaveLength(18);
    for (const type of layoutTypes) expect((await write(given, tab, { type, state: {} })).status).toBe(200);
    for (const type of ['', '30', '50', 'GRID', '100_100', 'toString', 7]) {
      expect((await write(given, tab, { type, state: {} })).status).toBe(400);
    }
  });

  it('orders a region by idx, and those of one idx as they were placed', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 4);
    const idx = [9, 3, 9, 0];
    const state = Object.fromEntries(ids.map((id, at) => [id, { region: 1, idx: idx[at] }]));
    await write(given, tab, { type: '100', state });
    expect(await places(given, tab, ids)).toEqual([
      [0, 2, 1],
      [0, 1, 1],
      [0, 3, 1],
      [0, 0, 1],
    ]);
  });

  it('begins a band below the longest region above it, and leaves no row to an empty one', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 4);
    const at = (region: number, idx: number): object => ({ region: `${region}`, idx });
    const state = { [ids[0]!]: at(2, 0), [ids[1]!]: at(3, 0), [ids[2]!]: at(3, 1), [ids[3]!]: at(4, 0) };
    await write(given, tab, { type: '100_50_50_100', state });
    expect(await places(given, tab, ids)).toEqual([
      [0, 0, 1],
      [1, 0, 1],
      [1, 1, 1],
      [0, 2, 2],
    ]);
  });

  it('keeps the sizes of what moves into columns', async () => {
    const given = await bench();
    const { tab, ids } = await dashboard(given, 1);
    const cell = { id: `gridklip-${ids[0]}`, index: [0, 0], colSpan: 4, minHeight: 100, height: 300 };
    await write(given, tab, { type: 'grid', state: { desktop: { itemConfigs: [cell] } } });
    await write(given, tab, { type: '50_50', state: { [ids[0]!]: { region: '2', idx: 0 } } });
    expect((await read(given, tab)).state.desktop.itemConfigs).toEqual([
      { id: `gridklip-${ids[0]}`, index: [1, 0], colSpan: 1, minHeight: 100, height: 300 },
    ]);
  });

  it.each(['columns', 'cells'])('in %s removes what it leaves out', async (shape) => {
    const given = await bench();
    const { tab, klip, ids } = await dashboard(given, 3);
    const [, kept] = ids;
    const body =
      shape === 'columns'
        ? { type: '100', state: { [kept!]: { region: '1', idx: 0 } } }
        : { type: 'grid', state: { desktop: { itemConfigs: [{ id: `gridklip-${kept}`, index: [0, 0] }] } } };
    expect((await write(given, tab, body)).status).toBe(200);
    expect(await places(given, tab, ids)).toEqual([undefined, [0, 0, 1], undefined]);
    expect((await given.call('GET', `/tabs/${tab}?full=true`)).body.data.klip_instances).toEqual([kept]);
    expect((await given.call('GET', `/klips/${ids[0]}`)).status).toBe(404);
    expect((await given.call('GET', `/klips/${klip}`)).status).toBe(200);
    expect((await write(given, tab, { type: '100', state: {} })).status).toBe(200);
    expect((await read(given, tab)).state.desktop.itemConfigs).toEqual([]);
  });

  it('that names an instance of another dashboard, a Klip or nothing at all changes nothing', async () => {
    const given = await bench();
    const { tab, klip, ids } = await dashboard(given, 2);
    const elsewhere = (await dashboard(given, 1)).ids[0]!;
    const before = await read(given, tab);
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
        const answer = await write(given, tab, body);
        expect([answer.status, answer.body.meta.error_desc]).toEqual([
          400,
          `Field "state" names a Klip instance that is not on the dashboard: ${stranger}`,
        ]);
      }
    }
    expect(await read(given, tab)).toEqual(before);
    expect((await given.call('GET', `/tabs/${tab}`)).body.data.last_updated).toBe(last_updated);
  });
});

describe('placing Klips in a layout (4.8)', () => {
  const placing = async (given: Bench, tab: string, klip: string, at: object = {}): Promise<string> =>
    (await placeKlips(given, tab, [{ klip_id: klip, ...at }]))[0]!.id;

  it('stands at the top of region 1 unless told, and moves down what was there', async () => {
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

  it('in a grid moves whole rows, so that wide cells never cover others', async () => {
    const given = await bench();
    const { tab, klip, ids } = await dashboard(given, 3);
    const itemConfigs = [
      { id: ids[0], index: [0, 0], colSpan: 2 },
      { id: ids[1], index: [2, 0] },
      { id: ids[2], index: [0, 1] },
    ];
    await write(given, tab, { type: 'grid', state: { desktop: { itemConfigs, cols: 3 } } });
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

  it('in a column layout moves only the region, and has the regions of its type', async () => {
    const given = await bench();
    const { tab, klip, ids } = await dashboard(given, 2);
    const [left, right] = ids;
    const state = { [left!]: { region: '1', idx: 0 }, [right!]: { region: '2', idx: 0 } };
    await write(given, tab, { type: '60_30', state });
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
