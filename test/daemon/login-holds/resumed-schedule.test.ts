import { expect, it } from 'vitest';
import { nextResumedRun, resumedSchedule } from '../../../src/daemon/login-holds/resumed-schedule.ts';
import type { Misfire, Schedule } from '../../../src/schedule/schedule.ts';

const hour = 3_600_000;
const noon = Date.parse('2026-11-23T12:00:00Z');
const hourly = (misfire?: Misfire): Schedule => ({ every: hour, from: 0, timezone: 'UTC', misfire });

/** What a job with this policy does if its login is tried again at that time. It's now a minute past twelve. */
function resumed(retry_at: number | null, misfire?: Misfire, nextAt: number | null = noon + hour) {
  const given = [hourly(misfire), { retry_at }, { nextAt, now: noon + 60_000 }] as const;
  return [resumedSchedule(...given), nextResumedRun(...given)];
}

it("a job whose login isn't retried has no next run", () => {
  expect(resumed(null)).toEqual([undefined, undefined]);
});

it('a firing during a hold runs when the login is retried; if there was no firing, the next one runs as planned', () => {
  const [early, late] = [noon + hour / 2, noon + 3.5 * hour];
  expect(resumed(early)).toEqual([{ at: early, runs: 0 }, noon + hour]);
  expect(resumed(late)).toEqual([{ at: late, runs: 1 }, late]);
  expect(resumed(late, { policy: 'run_all' })).toEqual([{ at: late, runs: 3 }, late]);
  expect(resumed(late, { policy: 'run_all' }, null)).toEqual([{ at: late, runs: 0 }, noon + 4 * hour]);
});

it('an overdue attempt runs immediately', () => {
  const now = noon + 60_000;
  expect(resumed(noon - hour, undefined, noon)).toEqual([{ at: now, runs: 1 }, now]);
});

it('with the skip misfire policy, only a firing that is due at the time of the attempt runs', () => {
  const skip = { policy: 'skip' } as const;
  expect(resumed(noon + 3.5 * hour, skip)).toEqual([{ at: noon + 3.5 * hour, runs: 0 }, noon + 4 * hour]);
  expect(resumed(noon + 3 * hour, skip)).toEqual([{ at: noon + 3 * hour, runs: 1 }, noon + 3 * hour]);
});
