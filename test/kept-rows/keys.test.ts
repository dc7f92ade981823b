import { describe, expect, it } from 'vitest';
import type { Column } from '../../src/sdk/column.ts';
import { Rig, type Row } from './rig.ts';

const merge = { disposition: 'merge', key: ['id'], deletes: 'compare' } as const;
const at = (minute: number) => `2026-06-01T00:${String(minute).padStart(2, '0')}:00Z`;
const row = (id: number, name = `n${id}`, minute = id % 60): Row => [id, name, at(minute)];
const ids = (rows: readonly (readonly (string | null)[])[]) => rows.map(([id]) => Number(id));

it('deletes the kept rows whose keys the source no longer has', async () => {
  const rig = new Rig(merge);
  await rig.run([row(1), row(2), row(3), row(10)]);
  expect(ids(await rig.run([], { keys: [[1], [10]] }))).toEqual([1, 10]);
  expect(rig.manifest!.rows).toBe(2);
  expect(ids(await rig.run([row(11)]))).toEqual([1, 10, 11]);
});

it('keeps the rows that were read in this run, because the keys may be from another moment', async () => {
  const rig = new Rig(merge);
  await rig.run([row(1), row(2)]);
  expect(ids(await rig.run([row(3), row(4)], { keys: [[1]] }))).toEqual([1, 3, 4]);
});

it('does not add rows for keys that no row was read for', async () => {
  const rig = new Rig(merge);
  await rig.run([row(1)]);
  expect(ids(await rig.run([], { keys: [[1], [2]] }))).toEqual([1]);
});

it('shows a deleted row again if the source returns it, even with a lower cursor', async () => {
  const rig = new Rig(merge);
  await rig.run([row(1), row(2, 'old', 50)], { cursor: 'at' });
  await rig.run([], { cursor: 'at', keys: [[1]] });
  expect(await rig.run([row(2, 'back', 5)], { cursor: 'at', keys: [[1], [2]] })).toContainEqual(['2', 'back', at(5)]);
});

it('compares keys that come in any order, with more keys and rows than fit in memory', async () => {
  const rig = new Rig(merge, { arenaBytes: 4096 });
  const all = Array.from({ length: 3000 }, (_, i) => i);
  await rig.run(all.map((i) => row(i)));
  const left = all.filter((i) => i % 3 !== 0);
  expect(ids(await rig.run([], { keys: left.toReversed().map((i) => [i]) }))).toEqual(left);
});

it('leaves out deleted rows before the newest rows are counted', async () => {
  const rig = new Rig({ ...merge, retain: { column: 'at', rows: 3 } });
  await rig.run([row(1), row(2), row(3)]);
  expect(ids(await rig.run([row(4)], { keys: [[1], [2], [4]] }))).toEqual([1, 2, 4]);
});

it('deletes nothing if no keys were read', async () => {
  const rig = new Rig(merge);
  await rig.run([row(1), row(2)]);
  expect(ids(await rig.run([row(3)]))).toEqual([1, 2, 3]);
});

describe('a run that deletes nothing', () => {
  const keys = (...list: number[]) => list.map((id) => [id]);

  it('has nothing to send, and writes no file, if there is no new row either', async () => {
    const rig = new Rig(merge);
    await rig.run([row(1), row(2)]);
    const { segments } = rig.manifest!;
    expect(ids(await rig.run([], { keys: keys(1, 2) }))).toEqual([1, 2]);
    expect(rig.isIdle).toBe(true);
    expect(rig.manifest!.segments).toEqual(segments);
    await rig.run([], { keys: keys(2) });
    expect(rig.isIdle).toBe(false);
  });

  it('writes only its own rows', async () => {
    const rig = new Rig(merge);
    await rig.run([row(1), row(2)]);
    const { segments } = rig.manifest!;
    expect(ids(await rig.run([row(3)], { keys: keys(1, 2) }))).toEqual([1, 2, 3]);
    expect(rig.isIdle).toBe(false);
    expect(rig.manifest!.segments).toMatchObject([...segments, { rows: 1 }]);
    expect(ids(await rig.run([row(4)], { keys: keys(1, 3, 4) }))).toEqual([1, 3, 4]);
    expect(rig.manifest!.segments).toMatchObject([{ rows: 3 }]);
  });

  it('is sent if a row is missing, because it must be read again', async () => {
    const rig = new Rig(merge);
    await rig.run([row(1)]);
    await rig.run([], { keys: keys(1, 2) });
    expect(rig.isIdle).toBe(false);
    expect(rig.missing).toBe('0');
  });

  it('reads more keys and rows than fit in memory', async () => {
    const rig = new Rig(merge, { arenaBytes: 4096 });
    const all = Array.from({ length: 3000 }, (_, i) => i);
    await rig.run(all.map((i) => row(i)));
    await rig.run([], { keys: keys(...all.toReversed()) });
    expect(rig.isIdle).toBe(true);
    await rig.run([], { keys: keys(...all.slice(0, -1)) });
    expect(rig.isIdle).toBe(false);
    expect(rig.manifest!.rows).toBe(2999);
  });
});

describe('keys of several columns', () => {
  const pair: readonly Column[] = [
    { name: 'shop', type: 'text' },
    { name: 'amount', type: 'decimal' },
    { name: 'note', type: 'text' },
  ];
  const byPair = { ...merge, key: ['shop', 'amount'] } as const;

  it('are equal if all values are equal, however a number is written', async () => {
    const rig = new Rig(byPair);
    const rows: Row[] = [
      ['a', '1.50', 'kept'],
      ['a', '2.00', 'deleted'],
      ['b', '2.0', 'kept'],
    ];
    await rig.run(rows, { columns: pair });
    const keys: Row[] = [
      ['a', '1.5'],
      ['b', '2.00'],
    ];
    const left = await rig.run([], { columns: pair, keys });
    expect(left).toEqual([
      ['a', '1.50', 'kept'],
      ['b', '2.0', 'kept'],
    ]);
    expect(rig.missing).toBeUndefined();
  });

  it('fail the run if one of them is null or of another type, so nothing is deleted', async () => {
    const rig = new Rig(byPair);
    await rig.run([['a', '1.50', 'kept']], { columns: pair });
    const before = rig.manifest;
    await expect(rig.run([], { columns: pair, keys: [['a', null]] })).rejects.toMatchObject({ code: 'SET_KEY_NULL' });
    const texts = pair.map((column) => ({ ...column, type: 'text' }) as const);
    const other = rig.run([], { columns: texts, keys: [['a', '1.50']] });
    await expect(other).rejects.toMatchObject({ code: 'SET_COLUMN_TYPE' });
    expect(rig.manifest).toBe(before);
  });
});

describe('the lowest cursor of the keys that have no row', () => {
  it('is found before, between and after the rows, and is compared as a number', async () => {
    const rig = new Rig(merge);
    await rig.run([row(5), row(7)]);
    await rig.run([row(9)], {
      keys: [
        [1, 100],
        [5, 1],
        [6, 20],
        [7, 2],
        [8, 9],
        [9, 3],
        [10, 30],
      ],
    });
    expect(rig.missing).toBe('9');
    await rig.run([], {
      keys: [
        [5, 1],
        [7, 2],
        [9, 3],
        [10, 30],
      ],
    });
    expect(rig.missing).toBe('30');
    await rig.run([], {
      keys: [
        [5, 1],
        [7, 2],
        [9, 3],
      ],
    });
    expect(rig.missing).toBeUndefined();
  });

  it('is found among more keys than fit in memory', async () => {
    const rig = new Rig(merge, { arenaBytes: 4096 });
    const all = Array.from({ length: 3000 }, (_, i) => i);
    await rig.run(all.filter((i) => i % 100 !== 50).map((i) => row(i)));
    await rig.run([], { keys: all.map((i) => [i, 10_000 - i]) });
    expect(rig.missing).toBe(String(10_000 - 2950));
  });

  it('is unknown if rows are removed that the source has', async () => {
    const rig = new Rig({ ...merge, retain: { column: 'at', rows: 1 } });
    await rig.run([row(1), row(2)]);
    await rig.run([], { keys: [[1], [2]] });
    expect(rig.missing).toBeUndefined();
  });
});
