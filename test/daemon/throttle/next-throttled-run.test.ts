import { expect, it } from 'vitest';
import { nextThrottledRun, nthFiring } from '../../../src/daemon/throttle/next-throttled-run.ts';
import { throttleText } from '../../../src/daemon/throttle/throttle-text.ts';
import { nextFiring, type Schedule } from '../../../src/schedule/schedule.ts';
import fc from '../../property.ts';

const minute = 60_000;
const hour = 60 * minute;
const schedule = { cron: '*/10 * * * *', timezone: 'UTC' };
const until = Date.parse('2026-11-22T05:00Z');

it('a throttled job next runs at the n-th firing after its last run, but not in the past, and by midnight at the latest', () => {
  const now = fc.integer({ min: until - 20 * hour, max: until - 1 });
  fc.assert(
    fc.property(now, fc.nat(9 * hour), fc.nat(12), (now, ago, every) => {
      const next = nextThrottledRun(schedule, { every, until }, { now, lastAt: now - ago })!;
      expect(next).toBeGreaterThan(now);
      expect(next).toBeLessThanOrEqual(until);
      expect(nextFiring(schedule, next - 1)).toBe(next);
      const turn = every === 0 ? until : nthFiring(schedule, now - ago, every)!;
      if (turn > now && turn <= until) expect(next).toBe(turn);
    }),
  );
});

it('a job throttled to no runs at all runs at midnight, even if it has never run', () => {
  expect(nextThrottledRun(schedule, { every: 0, until }, { now: until - hour, lastAt: undefined })).toBe(until);
});

it.each<[string, Schedule, number]>([
  ['runs every 30m instead of 10m', schedule, 3],
  ['rests', schedule, 0],
  ['runs once instead of every 10m', schedule, 54],
  ['runs every 8h50m instead of 10m', schedule, 53],
  ['runs at only every 2nd scheduled time', { cron: '0 8,9,17 * * *', timezone: 'UTC' }, 2],
  ['runs at only every 11th scheduled time', { cron: '0,7 * * * *', timezone: 'UTC' }, 11],
  ['runs at only every 23rd scheduled time', { cron: '0,7 * * * *', timezone: 'UTC' }, 23],
  ['runs every 3h instead of 1h30m', { every: 90 * minute, from: 0, timezone: 'UTC' }, 2],
])('throttling is reported as: %s', (words, given, every) => {
  const said = throttleText(given, { every, now: until - 9 * hour, until });
  expect(said).toBe(`${words} until 00:00 EST: the daily allowance is not enough for more`);
});
