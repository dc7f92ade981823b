import { describe, expect, it } from 'vitest';
import { firingsBetween, nextFiring } from '../../src/schedule/schedule.ts';

const hour = 3_600_000;
const timezone = 'Europe/Berlin';
const times = (firings: Iterable<number>) => [...firings].map((at) => new Date(at).toISOString().slice(5, 16));

describe('an interval', () => {
  it("is kept exactly, even if it doesn't divide a day evenly", () => {
    const thirteen = { every: 13 * hour, from: Date.parse('2026-03-28T00:00Z'), timezone };
    const day = [Date.parse('2026-03-28T00:00Z'), Date.parse('2026-03-30T00:00Z')] as const;
    expect(times(firingsBetween(thirteen, ...day))).toEqual(['03-28T13:00', '03-29T02:00', '03-29T15:00']);
  });

  it('fires for the first time at its start and never earlier', () => {
    const from = Date.parse('2026-11-21T06:30Z');
    const given = { every: 4 * hour, from, timezone };
    expect(nextFiring(given, from - 1000 * hour)).toBe(from);
    expect(nextFiring(given, from - 1)).toBe(from);
    expect(nextFiring(given, from)).toBe(from + 4 * hour);
    expect(nextFiring(given, from + 1000 * hour)).toBe(from + 1004 * hour);
  });

  it('is aligned to quarter hours by default', () => {
    const quarter = { every: hour / 4, from: 0, timezone: 'Asia/Kathmandu' };
    expect(times([nextFiring(quarter, Date.parse('2026-11-21T06:31:07Z'))!])).toEqual(['11-21T06:45']);
  });
});
