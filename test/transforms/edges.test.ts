import { describe, expect, it } from 'vitest';
import { type Batch, batchOf } from '../../src/sdk/batch.ts';
import { bytesBatch, columnsOf, outcome, prepare } from './rig.ts';

const one = columnsOf({ a: 'text' });
const two = columnsOf({ a: 'text', b: 'text' });

/** The batch with these stored rows visible, in this order. */
const only = (batch: Batch, ...rows: number[]): Batch => ({
  ...batch,
  length: rows.length,
  rows: Int32Array.from(rows),
});

describe('cast', () => {
  it('converts the rows that a filter left, and no others', () => {
    const batch = only(batchOf(one, [['x'], ['1'], ['y'], ['2']]), 1, 3);
    expect(outcome(prepare('cast', { a: 'integer' }, one), batch)).toEqual([['1'], ['2']]);
  });

  it.each([
    ['-0.00', 'decimal', '0.00'],
    ['2000-02-29', 'date', '2000-02-29'],
    ['2024-02-29', 'date', '2024-02-29'],
    ['1900-02-29', 'date', null],
  ])('converts %s to %s: %s', (text, type, expected) => {
    const prepared = prepare('cast', { a: { type, on_error: 'null' } }, one);
    expect(outcome(prepared, batchOf(one, [[text]]))).toEqual([[expected]]);
  });
});

describe('distinct', () => {
  it('distinguishes rows whose texts are the same only if they are joined', () => {
    const rows = [
      ['a', ':b'],
      ['a:', 'b'],
    ];
    expect(outcome(prepare('distinct', null, two), batchOf(two, rows))).toEqual(rows);
  });
});

describe('sort', () => {
  it('keeps empty strings and nulls apart, even if a later batch has values in another order', () => {
    const batch = only(batchOf(one, [['c'], [''], [null], ['b']]), 3, 2, 1, 0);
    expect(outcome(prepare('sort', 'a', one), bytesBatch(one, [['a']]), batch)).toEqual([
      [''],
      ['a'],
      ['b'],
      ['c'],
      [null],
    ]);
  });
});
