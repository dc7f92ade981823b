import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/lib/problem.ts';
import { Chain } from '../../src/pipeline/chain.ts';
import { batchOf, batchText } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import { transforms } from '../../src/transforms/index.ts';

const columns: Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'items', type: 'json' },
];

const chainOf = (...steps: (readonly [string, unknown])[]) =>
  new Chain(
    steps.map(([id, given]) => ({ transform: transforms.find((one) => one.id === id)!, given })),
    columns,
  );

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i));
const listOf = (items: readonly string[]) => `[${items.join(',')}]`;

describe('a chain of transforms that adds rows', () => {
  it('passes each part on to the later steps', () => {
    const chain = chainOf(['explode', 'items'], ['cast', { items: 'integer' }], ['filter', 'items % 2 == 0']);
    const batch = batchOf(columns, [
      [1, listOf(numbers(0, 1500))],
      [2, '[1]'],
    ]);
    const batches = [...chain.apply(batch, 0)];
    expect(batches.map(({ length }) => length)).toEqual([500, 250]);
    expect(batches.flatMap(batchText)[749]).toEqual(['1', '1498']);
  });

  it('reads no further than a limit after it', () => {
    const chain = chainOf(['explode', 'items'], ['limit', 1001]);
    const batch = batchOf(columns, [[1, `${listOf(numbers(0, 2000)).slice(0, -1)}, oops`]]);
    expect([...chain.apply(batch, 0)].map(({ length }) => length)).toEqual([1000, 1]);
    expect(chain.satisfied).toBe(true);
  });

  it('counts the added rows in the errors of later steps', () => {
    const chain = chainOf(['explode', 'items'], ['cast', { items: 'integer' }]);
    expect([...chain.apply(batchOf(columns, [[1, listOf(numbers(0, 1200))]]), 0)]).toHaveLength(2);
    try {
      for (const _ of chain.apply(batchOf(columns, [[2, '[1, 2, "x"]']]), 1));
      expect.fail('it did not fail');
    } catch (thrown) {
      expect((thrown as Problem).where).toMatchObject({ row: 1203, column: 'items', stage: 'transform 2 (cast)' });
    }
  });

  it('works before and after a sort', () => {
    const chain = chainOf(['sort', { by: [{ column: 'id', order: 'desc' }] }], ['explode', 'items'], ['sort', 'items']);
    const rows = [
      [1, '["b","d"]'],
      [2, '["a","c"]'],
    ];
    expect([...chain.apply(batchOf(columns, rows), 0)]).toEqual([]);
    expect([...chain.finish()].flatMap(batchText)).toEqual([
      ['2', 'a'],
      ['1', 'b'],
      ['2', 'c'],
      ['1', 'd'],
    ]);
  });
});
