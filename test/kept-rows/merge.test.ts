import { expect, it } from 'vitest';
import type { Column } from '../../src/sdk/column.ts';
import fc, { runsOf } from '../property.ts';
import { columns, Rig, type Row } from './rig.ts';

const merge = { disposition: 'merge', key: ['id'] } as const;
const t = (minute: number) => `2026-06-15T11:${String(minute).padStart(2, '0')}:00Z`;

it('a merge replaces rows with the same key, and returns all rows sorted by key', async () => {
  const rig = new Rig(merge);
  expect(
    await rig.run([
      [10, 'ten', t(1)],
      [9, 'nine', t(1)],
      [-1, 'minus', t(1)],
    ]),
  ).toEqual([
    ['-1', 'minus', t(1)],
    ['9', 'nine', t(1)],
    ['10', 'ten', t(1)],
  ]);
  expect(
    await rig.run([
      [9, 'NINE', t(2)],
      [11, null, t(2)],
    ]),
  ).toEqual([
    ['-1', 'minus', t(1)],
    ['9', 'NINE', t(2)],
    ['10', 'ten', t(1)],
    ['11', null, t(2)],
  ]);
});

it('a merge keeps the last of several rows with the same key, or the newest one if the rows have a cursor', async () => {
  const rows: Row[] = [
    [1, 'b', t(5)],
    [1, 'a', t(3)],
  ];
  expect(await new Rig(merge).run(rows)).toEqual([['1', 'a', t(3)]]);
  const rig = new Rig(merge);
  expect(await rig.run(rows, { cursor: 'at' })).toEqual([['1', 'b', t(5)]]);
  expect(await rig.run([[1, 'late', t(4)]], { cursor: 'at' })).toEqual([['1', 'b', t(5)]]);
  expect(await rig.run([[1, 'again', t(5)]], { cursor: 'at' })).toEqual([['1', 'again', t(5)]]);
});

it('a merge takes times for equal if they differ only in the zeros at the end of their fraction', async () => {
  const spelled = ['2026-06-15T11:00:00Z', '2026-06-15T11:00:00.000Z', '2026-06-15T13:00:00.0+02:00'];
  for (const former of spelled) {
    for (const later of spelled) {
      const byCursor = new Rig(merge);
      await byCursor.run([[1, 'former', former]], { cursor: 'at' });
      expect(await byCursor.run([[1, 'later', later]], { cursor: 'at' })).toEqual([['1', 'later', later]]);
      const byKey = new Rig({ ...merge, key: ['at'] });
      await byKey.run([[1, 'former', former]]);
      expect(await byKey.run([[1, 'later', later]])).toEqual([['1', 'later', later]]);
    }
  }
  const local = {
    columns: [columns[0]!, { name: 'at', type: 'timestamp' } as const, { name: 'clock', type: 'time' } as const],
  };
  const rig = new Rig({ ...merge, key: ['at', 'clock'] });
  await rig.run([[1, '2026-06-15T11:00:00', '11:00:00.50']], local);
  await rig.run([[2, '2026-06-15T11:00:00.0', '11:00:00.5']], local);
  expect(await rig.run([[3, '2026-06-15T11:00:00.05', '11:00:00.5']], local)).toEqual([
    ['2', '2026-06-15T11:00:00.0', '11:00:00.5'],
    ['3', '2026-06-15T11:00:00.05', '11:00:00.5'],
  ]);
});

it('a merge deletes a row that is marked as deleted, and adds it again if it returns without the mark', async () => {
  const withMark: Column[] = [...columns, { name: 'gone', type: 'text' }];
  const rig = new Rig({ ...merge, deleted: 'gone' });
  const told = { columns: withMark };
  await rig.run(
    [
      [1, 'a', t(1), null],
      [2, 'b', t(1), ''],
      [3, 'c', t(1), '0'],
      [4, 'd', t(1), 'false'],
    ],
    told,
  );
  expect(
    (
      await rig.run(
        [
          [2, 'b', t(2), '2026-06-15'],
          [3, 'c', t(2), 'true'],
        ],
        told,
      )
    ).map(([id]) => id),
  ).toEqual(['1', '4']);
  expect((await rig.run([[2, 'b', t(3), null]], told)).map(([id]) => id)).toEqual(['1', '2', '4']);
});

it('a job that appends keeps rows in arrival order', async () => {
  const rig = new Rig({ disposition: 'append', key: [] });
  await rig.run([
    [2, 'b', t(1)],
    [1, 'a', t(1)],
  ]);
  expect((await rig.run([[2, 'b', t(2)]])).map(([id, , at]) => [id, at])).toEqual([
    ['2', t(1)],
    ['1', t(1)],
    ['2', t(2)],
  ]);
});

it('a merge accepts new columns, and keeps the values of columns that no longer arrive', async () => {
  const rig = new Rig(merge);
  await rig.run([[1, 'a', t(1)]]);
  const other: Column[] = [
    { name: 'size', type: 'decimal' },
    { name: 'id', type: 'integer' },
  ];
  expect(await rig.run([['1.50', 2]], { columns: other })).toEqual([
    ['1', 'a', t(1), null],
    ['2', null, null, '1.50'],
  ]);
});

it('a merge rejects a column whose type changed, but widens integers to decimals and lets an empty column take any type', async () => {
  const rig = new Rig(merge);
  const typed = (type: Column['type']) => ({ columns: [columns[0]!, { name: 'x', type }] });
  await rig.run([[1, null]], typed('boolean'));
  await rig.run([[2, 7]], typed('integer'));
  expect(await rig.run([[3, '7.5']], typed('decimal'))).toEqual([
    ['1', null],
    ['2', '7'],
    ['3', '7.5'],
  ]);
  expect(rig.manifest!.columns.at(-1)).toEqual({ name: 'x', type: 'decimal', seen: true });
  await expect(rig.run([[4, 'many']], typed('text'))).rejects.toMatchObject({
    code: 'SET_COLUMN_TYPE',
    seen: 'text',
    allowed: 'decimal',
    next: expect.stringContaining('sluice state clear'),
  });
  await expect(rig.run([['1.5', null]], { columns: [{ name: 'id', type: 'decimal' }] })).rejects.toMatchObject({
    code: 'SET_COLUMN_TYPE',
  });
});

it('a merge ignores the column types of a run without rows, even those of its key and cursor', async () => {
  const rig = new Rig(merge);
  const rows = await rig.run([[1, 'a', t(1)]], { cursor: 'at' });
  const typed = (id: Column['type'], at: Column['type']): readonly Column[] => [
    { name: 'id', type: id },
    columns[1]!,
    { name: 'at', type: at },
  ];
  expect(await rig.run([], { columns: typed('decimal', 'timestamp'), cursor: 'at' })).toEqual(rows);
  for (const [id, at] of [
    ['decimal', 'timestamptz'],
    ['integer', 'timestamp'],
  ] as const) {
    const run = rig.run([[2, 'b', '2026-06-15T00:00:00']], { columns: typed(id, at), cursor: 'at' });
    await expect(run).rejects.toMatchObject({ code: 'SET_COLUMN_TYPE' });
  }
  // Text has no order, so the newer row would lose against the row with an ordered cursor.
  const found = { columns: typed('integer', 'text'), cursor: 'at', absentColumns: [] };
  await expect(rig.run([[1, 'b', 'later']], found)).rejects.toMatchObject({ code: 'SET_COLUMN_TYPE', seen: 'text' });
});

it('a merge keeps its rows if a run without rows has only columns that the records get from elsewhere', async () => {
  const rig = new Rig({ ...merge, deleted: 'gone' });
  const found: Column[] = [{ name: 'as_of', type: 'text' }];
  const told = { columns: [...found, columns[0]!, { name: 'gone', type: 'boolean' } as const], cursor: 'at' };
  expect(await rig.run([], { columns: found, cursor: 'at' })).toEqual([]);
  const rows = await rig.run([['now', 1, false]], told);
  expect(rows).toEqual([['now', '1', 'false']]);
  expect(await rig.run([], { columns: found, cursor: 'at' })).toEqual(rows);
  expect(await rig.run([['later', 1, true]], told)).toEqual([]);
});

it("a merge reports the number of a row whose key is null, and rejects a key that isn't a column or has no exact text", async () => {
  const rig = new Rig(merge);
  await expect(
    rig.run([
      [1, 'a', null],
      [null, 'b', null],
    ]),
  ).rejects.toMatchObject({
    code: 'SET_KEY_NULL',
    family: 'row',
    where: { row: 2, column: 'id' },
  });
  await expect(rig.run([['x']], { columns: [{ name: 'ID', type: 'text' }] })).rejects.toMatchObject({
    code: 'SET_NO_COLUMN',
  });
  await expect(rig.run([[1.5]], { columns: [{ name: 'id', type: 'float' }] })).rejects.toMatchObject({
    code: 'SET_KEY_TYPE',
  });
});

type Change = readonly [number, string | null];
const change = fc.tuple(fc.integer({ min: -40, max: 40 }), fc.option(fc.string({ maxLength: 5, unit: 'binary' })));
const runs = fc.array(fc.array(change, { maxLength: 60 }), { maxLength: 25 });

it('a merge gives the same result as a map after any series of runs, no matter how little fits in memory', async () => {
  await fc.assert(
    fc.asyncProperty(runs, fc.constantFrom(1, 200, 1_000_000), async (all, arenaBytes) => {
      const rig = new Rig({ disposition: 'merge', key: ['id'], deleted: 'gone' }, { arenaBytes });
      const model = new Map<number, string | null>();
      const told = { columns: [columns[0]!, columns[1]!, { name: 'gone', type: 'boolean' }] as const };
      for (const rows of all) {
        for (const [id, name] of rows)
          if (name === '') model.delete(id);
          else model.set(id, name);
        const got = await rig.run(
          rows.map(([id, name]: Change) => [id, name, name === '']),
          told,
        );
        const wanted = [...model]
          .sort(([a], [b]) => a - b)
          .map(([id, name]) => [String(id), name?.toWellFormed() ?? null, 'false']);
        expect(got).toEqual(wanted);
        expect(rig.manifest!.rows).toBe(model.size);
      }
    }),
    { numRuns: runsOf(25) },
  );
});
