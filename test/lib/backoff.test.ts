import { describe, expect, it } from 'vitest';
import { exponentialMs } from '../../src/lib/backoff.ts';

const tries = [0, 1, 2, 3, 4];

describe('exponential backoff', () => {
  it('doubles the wait from the first to the longest, and never goes beyond that', () => {
    const backoff = { firstMs: 100, maxMs: 1000 };
    expect(tries.map((n) => exponentialMs(n, backoff))).toEqual([100, 200, 400, 800, 1000]);
    expect(exponentialMs(1e9, backoff)).toBe(1000);
  });

  it('can grow by another factor', () => {
    expect(tries.map((n) => exponentialMs(n, { firstMs: 10, maxMs: 240, factor: 3 }))).toEqual([10, 30, 90, 240, 240]);
  });

  it.each([
    [0, 800, 800],
    [0.2, 640, 800],
    [0.5, 400, 800],
    [1, 0, 800],
  ])('with a jitter of %d waits between %d and %d ms', (jitter, shortest, longest) => {
    const backoff = { firstMs: 100, maxMs: 1000, jitter };
    const at = (random: number) => exponentialMs(3, backoff, () => random);
    expect([at(0), at(1)]).toEqual([expect.closeTo(shortest), expect.closeTo(longest)]);
    expect(at(0.5)).toBeCloseTo((shortest + longest) / 2);
  });
});
