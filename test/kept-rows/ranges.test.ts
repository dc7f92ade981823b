import { expect, it } from 'vitest';
import { noon, Rig } from './rig.ts';

const at = (day: number) => `2026-06-${String(day).padStart(2, '0')}T00:00:00Z`;
const covers = (from: number, to: number) => ({ column: 'at', from: at(from), to: at(to) });

it('a reread range replaces the rows in it, except those that changed after the read', async () => {
  const rig = new Rig({ disposition: 'merge', key: ['id'] });
  await rig.run(
    [
      [1, 'a', at(1)],
      [2, 'b', at(2)],
      [3, 'c', at(3)],
      [4, 'd', at(4)],
    ],
    { asOf: noon, cursor: 'at' },
  );
  // At the source, row 2 was deleted and row 3 has another name; row 5 was never seen.
  const staged = await rig.stage(
    [
      [3, 'C', at(3)],
      [5, 'e', at(2)],
    ],
    { asOf: noon + 10, cursor: 'at', covers: covers(2, 4) },
  );
  // In the meantime, a run sees that row 3 has changed again and that row 6 has moved into the range.
  await rig.run(
    [
      [3, 'newer', at(5)],
      [6, 'f', at(3)],
    ],
    { asOf: noon + 20, cursor: 'at', isHeld: true },
  );
  const whole = await rig.run([], { asOf: noon + 30, staged });
  expect(whole).toEqual([
    ['1', 'a', at(1)],
    ['3', 'newer', at(5)],
    ['4', 'd', at(4)],
    ['5', 'e', at(2)],
    ['6', 'f', at(3)],
  ]);
  expect(rig.manifest!.filled).toBe(staged.id);
  // After enough runs to merge everything into one file, the result is the same.
  for (let i = 0; i < 20; i++)
    expect(await rig.run([[7, `g${i}`, at(6)]], { asOf: noon + 40 + i, cursor: 'at' })).toHaveLength(6);
  expect(rig.manifest!.segments.length).toBeLessThan(17);
});

it('a reread range begins and ends at the same rows however many zeros their times have', async () => {
  const rig = new Rig({ disposition: 'merge', key: ['id'] });
  const rows = [
    [1, 'in', at(2)],
    [2, 'in', at(2).replace('Z', '.000Z')],
    [3, 'out', at(4)],
    [4, 'out', at(4).replace('Z', '.0Z')],
  ] as const;
  await rig.run(rows, { cursor: 'at' });
  const zeros = { column: 'at', from: at(2).replace('Z', '.00Z'), to: at(4).replace('Z', '.00Z') };
  const staged = await rig.stage([], { asOf: noon + 10, cursor: 'at', covers: zeros });
  expect(await rig.run([], { asOf: noon + 20, staged })).toEqual([
    ['3', 'out', rows[2][2]],
    ['4', 'out', rows[3][2]],
  ]);
});

it('a reread range is rejected if its keys or cursors have another type than those of the kept rows', async () => {
  const typed = (id: 'integer' | 'text', at: 'integer' | 'decimal') => ({
    columns: [
      { name: 'id', type: id },
      { name: 'at', type: at },
    ],
    cursor: 'at',
    absentColumns: [],
  });
  const rig = new Rig({ disposition: 'merge', key: ['id'] });
  await rig.run([], { columns: [], absentColumns: [] });
  const base = rig.manifest!;
  // As texts and as integers, these are different keys, so the row would be there twice.
  for (const one of [typed('integer', 'integer'), typed('text', 'decimal')]) {
    rig.manifest = base;
    const staged = await rig.stage([['5', '1']], one);
    await rig.run([['5', '2']], typed('text', 'integer'));
    const joined = rig.run([], { ...typed('text', 'integer'), staged });
    await expect(joined).rejects.toMatchObject({ code: 'SET_COLUMN_TYPE' });
  }
});

it('a reread range with new columns is rejected if the kept rows got other new columns in the meantime', async () => {
  const rig = new Rig({ disposition: 'merge', key: ['id'] });
  const id = { name: 'id', type: 'integer' } as const;
  const told = (name: string) => ({ columns: [id, { name, type: 'text' } as const] });
  await rig.run([[1, 'x']], told('a'));
  const staged = await rig.stage([[2, 'y']], told('b'));
  expect(await rig.run([], { ...told('a'), staged })).toEqual([
    ['1', 'x', null],
    ['2', null, 'y'],
  ]);
  const other = await rig.stage([[3, 'z']], told('c'));
  await rig.run([[4, 'w']], told('d'));
  await expect(rig.run([], { ...told('a'), staged: other })).rejects.toMatchObject({ code: 'SET_MOVED' });
});
