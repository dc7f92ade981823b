import { describe, expect, it } from 'vitest';
import { guardsOf } from './fixtures.ts';

describe("a job's guards", () => {
  const preset = { rowChange: { down: 0.5, from: 100 } };

  it('consist of one preset guard by default', () => {
    expect(guardsOf(undefined, undefined)).toEqual(preset);
  });

  it('each replace the whole top-level guard of the same name', () => {
    const top = { rows: { minimum: 10 }, row_change: { down: '20%', up: '100%' } };
    expect(guardsOf({ row_change: { up: '12.5%' } }, top)).toEqual({
      rows: { minimum: 10 },
      rowChange: { up: 0.125, from: 100 },
    });
    expect(guardsOf(undefined, { row_change: { down: '20%', from: 5 } })).toEqual({
      rowChange: { down: 0.2, from: 5 },
    });
  });

  it('can be disabled with false: one or all of them, for one job or for all jobs', () => {
    expect(guardsOf({ row_change: false }, undefined)).toEqual({});
    expect(guardsOf({ rows: false }, { rows: { minimum: 1 } })).toEqual(preset);
    expect(guardsOf(false, { rows: { minimum: 1 } })).toEqual({});
    expect(guardsOf(undefined, false)).toEqual({});
    expect(guardsOf({ bytes: { maximum: 5 } }, false)).toEqual({ bytes: { maximum: 5 } });
  });

  it('accept durations and percentages', () => {
    const given = { newest: { column: 'a', within: '36h' }, nulls: { b: '0.5%' }, columns: ['c'], row_change: false };
    expect(guardsOf(given, undefined)).toEqual({
      newest: { column: 'a', withinMs: 129_600_000 },
      nulls: new Map([['b', 0.005]]),
      columns: ['c'],
    });
  });
});
