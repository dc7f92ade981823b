import { describe, expect, it } from 'vitest';
import { DistinctCount } from '../../src/compare/distinct-count.ts';
import { formatIds } from '../formats/encoding.ts';
import fc, { runsOf } from '../property.ts';
import { type Cells, compared, type Table } from './tables.ts';

/** A sorted table with an ID, a name that several rows share, and an amount. */
const sorted = (from: number, to: number): Table => ({
  columns: ['id', 'name', 'amount'],
  rows: Array.from({ length: to - from }, (_, i) => [
    String(from + i),
    `name ${(from + i) % 7}`,
    `${(from + i) % 5}.50`,
  ]),
  types: { id: 'integer', amount: 'decimal' },
});

describe('two tables', () => {
  it.each(formatIds)('differ only in the first 2,199 rows if the second table lacks them (%s)', async (format) => {
    const difference = await compared(sorted(1, 5001), sorted(2200, 5001), { format });
    expect(difference).toMatchObject({
      by: { kind: 'found', columns: ['id'] },
      rows: { last: 5000, now: 2801 },
      added: 0,
      removed: 2199,
      changed: 0,
    });
    expect(difference.samples.removed.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    expect(difference.samples).toMatchObject({ added: [], changed: [] });
    expect(difference.columns.map(({ column, changed }) => [column, changed])).toEqual([
      ['id', 0],
      ['name', 0],
      ['amount', 0],
    ]);
  });

  it('differ in the cells that changed in rows with the same key, counted per column', async () => {
    const now = sorted(1, 101);
    const rows = now.rows.map(
      ([id, name, amount]): Cells => [id!, id === '7' ? null : name!, Number(id) > 90 ? '9' : amount!],
    );
    const { columns, samples, ...counts } = await compared(sorted(1, 101), { ...now, rows });
    expect(counts).toMatchObject({ added: 0, removed: 0, changed: 11 });
    expect(columns.map(({ changed }) => changed)).toEqual([0, 1, 10]);
    expect(samples.changed[0]).toEqual({
      last: { id: '7', name: 'name 0', amount: '2.50' },
      now: { id: '7', name: null, amount: '2.50' },
    });
  });

  it("are compared by the job's key, regardless of the order of rows and columns", async () => {
    const last = {
      columns: ['shop', 'day', 'sold'],
      rows: [
        ['a', '1', '5'],
        ['a', '2', '6'],
        ['b', '1', '7'],
      ],
    };
    const now = {
      columns: ['sold', 'day', 'shop'],
      rows: [
        ['7', '1', 'b'],
        ['8', '2', 'a'],
        ['9', '3', 'a'],
      ],
    };
    const difference = await compared(last, now, { key: ['shop', 'day'] });
    expect(difference).toMatchObject({
      by: { kind: 'declared', columns: ['shop', 'day'] },
      added: 1,
      removed: 1,
      changed: 1,
      samples: {
        changed: [{ last: { sold: '6' }, now: { sold: '8' } }],
        removed: [{ sold: '5' }],
        added: [{ sold: '9' }],
      },
    });
  });

  it("aren't compared by a key that isn't unique or that a table lacks", async () => {
    const last = {
      columns: ['id', 'name'],
      rows: [
        ['1', 'a'],
        ['2', 'a'],
      ],
    };
    for (const key of [['name'], ['id', 'gone']]) {
      expect((await compared(last, last, { key })).by).toEqual({ kind: 'found', columns: ['id'] });
    }
  });

  it('without a unique column are compared as multisets: a changed row counts as one removed and one added row', async () => {
    const row = ['x', 'y'];
    const difference = await compared(
      { columns: ['a', 'b'], rows: [row, row, row, ['x', 'z']] },
      { columns: ['a', 'b'], rows: [row, ['x', 'q'], ['x', 'q'], ['p', 'y']] },
    );
    expect(difference).toMatchObject({ by: { kind: 'row', columns: [] }, added: 3, removed: 3, changed: 0 });
    expect(difference.samples.removed.filter(({ b }) => b === 'y')).toHaveLength(2);
  });

  it('are compared by the unique column with the fewest changed cells, not by a line number', async () => {
    const numbered = (ids: readonly number[]): Table => ({
      columns: ['line', 'id', 'half'],
      rows: ids.map((id, i) => [String(i), `id ${id}`, `${id % 3}`]),
    });
    const ids = Array.from({ length: 50 }, (_, i) => i);
    const difference = await compared(numbered(ids), numbered(ids.slice(20)));
    expect(difference).toMatchObject({ by: { columns: ['id'] }, removed: 20, added: 0, changed: 30 });
    expect(difference.columns.map(({ changed }) => changed)).toEqual([30, 0, 0]);
  });

  it('with different columns are compared by their common columns, and the other columns are reported', async () => {
    const difference = await compared(
      {
        columns: ['id', 'old'],
        rows: [
          ['1', 'x'],
          ['2', 'y'],
        ],
      },
      {
        columns: ['new', 'id'],
        rows: [
          [null, '1'],
          ['n', '3'],
        ],
      },
    );
    expect(difference).toMatchObject({ added: 1, removed: 1, changed: 0, by: { columns: ['id'] } });
    expect(difference.columns).toMatchObject([
      { column: 'id', last: { min: '1', max: '2' }, now: { min: '1', max: '3' } },
      { column: 'old', last: { nulls: 0 }, now: null },
      { column: 'new', last: null, now: { nulls: 1, distinct: { count: 1 } } },
    ]);
    expect(difference.samples).toMatchObject({ removed: [{ id: '2', old: 'y' }], added: [{ id: '3', new: 'n' }] });
  });

  it.each(formatIds)('differ in every row if one of them is empty (%s)', async (format) => {
    const [full, empty] = [sorted(1, 31), sorted(1, 1)];
    expect(await compared(full, empty, { format })).toMatchObject({
      rows: { last: 30, now: 0 },
      removed: 30,
      added: 0,
    });
    expect(await compared(empty, full, { format })).toMatchObject({
      rows: { last: 0, now: 30 },
      removed: 0,
      added: 30,
    });
    expect(await compared(empty, empty, { format })).toMatchObject({ removed: 0, added: 0, changed: 0 });
  });

  it('differ in every row if they have no common column', async () => {
    const difference = await compared({ columns: ['a'], rows: [['1'], ['1']] }, { columns: ['b'], rows: [['1']] });
    expect(difference).toMatchObject({ removed: 2, added: 1, changed: 0 });
  });

  it("are parsed with their format's options", async () => {
    const table = {
      columns: ['id', 'name'],
      rows: [
        ['1', 'a;b'],
        ['2', null],
      ],
    };
    for (const [format, options] of [
      ['csv', { delimiter: ';', null_text: 'NULL' }],
      ['xml', { root: 'all', row: 'one' }],
    ] as const) {
      const { rows, columns } = await compared(table, table, { format, options });
      expect(rows).toEqual({ last: 2, now: 2 });
      expect(columns).toMatchObject([{ column: 'id' }, { column: 'name', last: { nulls: 1, max: 'a;b' } }]);
    }
  });

  it('distinguish a string, an empty string and null', async () => {
    const rows = (name: string | null): Table => ({ columns: ['id', 'name'], rows: [['1', name]] });
    for (const [last, now, changed] of [
      ['a', 'b', 1],
      ['', null, 1],
      ['', '', 0],
      [null, null, 0],
    ] as const) {
      expect((await compared(rows(last), rows(now), { format: 'json' })).changed).toBe(changed);
    }
  });
});

describe("a column's statistics", () => {
  it('count its nulls and distinct values, and contain its minimum and maximum', async () => {
    const values = ['10', '9', '-1.5', null, '9', '123456789012345678901'];
    const table = { columns: ['n', 't'], rows: values.map((n, i) => [n, ['b', 'é', 'a', 'b', '', 'B'][i]!]) };
    const { columns } = await compared(table, table, { format: 'json' });
    expect(columns).toMatchObject([
      { last: { nulls: 1, min: '-1.5', max: '123456789012345678901', distinct: { count: 4, exact: true } } },
      { now: { nulls: 0, min: '', max: 'é', distinct: { count: 5, exact: true } } },
    ]);
  });

  it('say whether there are too many distinct values to count exactly', async () => {
    const { columns, rows } = sorted(0, 30_000);
    const table = { columns: [...columns, 'half'], rows: rows.map((row, i) => [...row, `half ${i >> 1}`]) };
    const [id, name, , half] = (await compared(table, table)).columns;
    expect(half!.last!.distinct.exact).toBe(false);
    expect(Math.abs(half!.last!.distinct.count - 15_000) / 15_000).toBeLessThan(0.07);
    expect(name!.last!.distinct).toEqual({ count: 7, exact: true });
    // It's the key, so sorting has counted it.
    expect(id!.last!.distinct).toEqual({ count: 30_000, exact: true });
  });

  it('never count more distinct values than values', () => {
    for (let first = 0; first < 20; first++) {
      const distinct = new DistinctCount();
      for (let i = 0; i < 6000; i++) distinct.add(`${first}, ${i}`);
      expect(distinct.value.count).toBeLessThanOrEqual(6000);
      expect(distinct.value.count).toBeGreaterThan(5500);
    }
  });
});

/** Few values, so that rows match. */
const cell = fc.option(fc.constantFrom('', 'a', 'b', 'ab', '1', '01', '1.0', ',', '"', '\n', 'é'), {
  nil: null,
  freq: 6,
});
const table = fc.array(fc.tuple(cell, cell), { maxLength: 30 });

describe('any two tables', () => {
  it('without a key are compared as multisets, whether they are sorted in memory or on disk', async () => {
    await fc.assert(
      fc.asyncProperty(table, table, fc.constantFrom(1, 200, undefined), async (last, now, maxBytes) => {
        const columns = ['x', 'y'];
        // Doubles every row, so that no combination of columns is unique.
        const twice = (rows: Cells[]): Table => ({ columns, rows: [...rows, ...rows] });
        const way = { format: 'json' as const, ...(maxBytes === undefined ? {} : { maxBytes }) };
        const { added, removed, by } = await compared(twice(last), twice(now), way);
        if (last.length > 0 && now.length > 0) expect(by.kind).toBe('row');
        expect({ added, removed }).toEqual({ added: 2 * surplus(now, last), removed: 2 * surplus(last, now) });
      }),
      { numRuns: runsOf(30) },
    );
  });

  it('with a key differ in exactly the rows that a lookup by key finds', async () => {
    const keyed = fc.uniqueArray(fc.tuple(fc.integer({ min: -20, max: 20 }).map(String), cell), {
      selector: ([key]) => key,
    });
    await fc.assert(
      fc.asyncProperty(keyed, keyed, fc.constantFrom(1, undefined), async (last, now, maxBytes) => {
        const way = { format: 'json' as const, key: ['k'], ...(maxBytes === undefined ? {} : { maxBytes }) };
        const columns = ['k', 'v'];
        const { added, removed, changed } = await compared({ columns, rows: last }, { columns, rows: now }, way);
        const [former, latter] = [new Map(last), new Map(now)];
        expect({ added, removed, changed }).toEqual({
          added: now.filter(([key]) => !former.has(key)).length,
          removed: last.filter(([key]) => !latter.has(key)).length,
          changed: last.filter(([key, value]) => latter.has(key) && latter.get(key) !== value).length,
        });
      }),
      { numRuns: runsOf(30) },
    );
  });
});

/** How many rows of the first table are missing in the second, counting duplicates. */
function surplus(one: readonly Cells[], other: readonly Cells[]): number {
  const left = new Map<string, number>();
  for (const row of other) left.set(JSON.stringify(row), (left.get(JSON.stringify(row)) ?? 0) + 1);
  let count = 0;
  for (const row of one) {
    const has = left.get(JSON.stringify(row)) ?? 0;
    if (has === 0) count += 1;
    else left.set(JSON.stringify(row), has - 1);
  }
  return count;
}
