import { describe, expect, it } from 'vitest';
import { nextFiring, nominalOf } from '../../src/schedule/schedule.ts';
import { offsetOf, shareOf } from '../../src/schedule/spread.ts';

const minute = 60_000;
const names = Array.from({ length: 1000 }, (_, n) => `job_${n}`);

describe('a spread', () => {
  it('gives a job the same delay on every machine and in every version', () => {
    expect(['orders', 'stock', 'umsätze'].map((name) => offsetOf(name, 10 * minute))).toEqual([
      242_000, 256_000, 395_000,
    ]);
  });

  it('distributes a thousand jobs that are due in the same minute evenly over ten minutes', () => {
    const offsets = names.map((name) => offsetOf(name, 10 * minute));
    const [least, most] = [Math.min(...offsets), Math.max(...offsets)];
    expect([least >= 0, most < 10 * minute]).toEqual([true, true]);
    const perMinute = Map.groupBy(offsets, (offset) => Math.floor(offset / minute));
    expect(perMinute.size).toBe(10);
    for (const jobs of perMinute.values()) expect(jobs.length).toBeLessThan(150);
    const perSecond = Map.groupBy(offsets, (offset) => offset);
    expect(Math.max(...[...perSecond.values()].map(({ length }) => length))).toBeLessThan(12);
  });

  it("is zero if it's shorter than two seconds", () => {
    expect([0, 1000, 1999].map((spread) => offsetOf('orders', spread))).toEqual([0, 0, 0]);
  });

  it('of two seconds uses both seconds', () => {
    expect(new Set(names.map((name) => offsetOf(name, 2000)))).toEqual(new Set([0, 1000]));
  });

  it('moves the firing, but not its nominal time', () => {
    const schedule = { at: ['23:55'], timezone: 'Europe/Berlin', offset: 8 * minute };
    const firing = nextFiring(schedule, Date.parse('2026-11-21T12:00Z'))!;
    expect(new Date(firing).toISOString()).toBe('2026-11-21T23:03:00.000Z');
    expect(new Date(nominalOf(schedule, firing)).toISOString()).toBe('2026-11-21T22:55:00.000Z');
  });
});

it("a string's share is always the same, and shares are uniformly distributed between 0 and 1", () => {
  const shares = names.map(shareOf);
  expect(shares).toEqual(names.map(shareOf));
  expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...shares)).toBeLessThan(1);
  const perTenth = Map.groupBy(shares, (share) => Math.floor(share * 10));
  for (const tenth of perTenth.values()) expect(tenth.length).toBeLessThan(150);
  expect(perTenth.size).toBe(10);
});
