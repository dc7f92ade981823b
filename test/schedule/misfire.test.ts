import { describe, expect, it } from 'vitest';
import { decideMisfire, firingBefore, runsDue } from '../../src/schedule/misfire.ts';
import type { Misfire, Schedule } from '../../src/schedule/schedule.ts';

const at = (text: string) => Date.parse(`2026-11-20T${text}Z`);
const hour = 3_600_000;
const hourly = (misfire?: Misfire): Schedule => ({
  every: hour,
  from: 0,
  timezone: 'UTC',
  ...(misfire === undefined ? {} : { misfire }),
});
const alone = { hasBacklog: false, isCatchUp: false };

describe('a firing that is handled on time', () => {
  it.each([
    undefined,
    { policy: 'skip' },
    { policy: 'run_once', withinMs: hour },
    { policy: 'run_all', withinMs: hour, atMost: 3 },
  ] as const)('starts a run, whatever the misfire policy: %j', (misfire) => {
    const decision = decideMisfire(hourly(misfire), { nextAt: at('10:00'), now: at('10:01') });
    expect(decision).toEqual({ fire: at('10:00'), nextAt: at('11:00'), ...alone });
  });
});

describe('missed firings', () => {
  const standing = { nextAt: at('10:00'), now: at('14:20') };

  it('cause one run by default, for the first missed time', () => {
    const once = { fire: at('10:00'), nextAt: at('15:00'), ...alone };
    expect(decideMisfire(hourly(), standing)).toEqual(once);
    expect(decideMisfire(hourly({ policy: 'run_once' }), standing)).toEqual(once);
  });

  it('cause no run if all of them are older than the run_once window', () => {
    const skipped = { first: at('10:00'), last: at('14:00'), firings: 5 };
    expect(decideMisfire(hourly({ policy: 'run_once', withinMs: 10 * 60_000 }), standing)).toEqual({
      skipped,
      nextAt: at('15:00'),
      ...alone,
    });
    expect(decideMisfire(hourly({ policy: 'run_once', withinMs: 30 * 60_000 }), standing)).toMatchObject({
      fire: at('10:00'),
    });
  });

  it("are skipped by the skip policy, except the last one if it's within the grace period", () => {
    const all = { first: at('10:00'), last: at('14:00'), firings: 5 };
    expect(decideMisfire(hourly({ policy: 'skip' }), standing)).toEqual({
      skipped: all,
      nextAt: at('15:00'),
      ...alone,
    });
    const but = { first: at('10:00'), last: at('13:00'), firings: 4 };
    const late = decideMisfire(hourly({ policy: 'skip' }), { ...standing, now: at('14:04') });
    expect(late).toEqual({ fire: at('14:00'), skipped: but, nextAt: at('15:00'), ...alone });
  });

  it('cause one run after another with run_all, and the last run leaves no backlog', () => {
    const policy = hourly({ policy: 'run_all', withinMs: 24 * hour, atMost: 24 });
    const first = decideMisfire(policy, standing);
    expect(first).toEqual({ fire: at('10:00'), nextAt: at('11:00'), hasBacklog: true, isCatchUp: true });
    const last = decideMisfire(policy, { nextAt: at('14:00'), now: at('14:50'), behindSince: at('14:20') });
    expect(last).toEqual({ fire: at('14:00'), nextAt: at('15:00'), hasBacklog: false, isCatchUp: true });
  });

  it('count as catch-ups even within the grace period if more are due, or if earlier ones were caught up', () => {
    const minutely: Schedule = { every: 60_000, from: 0, timezone: 'UTC', misfire: { policy: 'run_all' } };
    const more = decideMisfire(minutely, { nextAt: at('14:18'), now: at('14:20') });
    expect(more).toMatchObject({ fire: at('14:18'), hasBacklog: true, isCatchUp: true });
    const last = decideMisfire(minutely, { nextAt: at('14:20'), now: at('14:20'), behindSince: at('14:00') });
    expect(last).toMatchObject({ fire: at('14:20'), hasBacklog: false, isCatchUp: true });
    const inTime = decideMisfire(minutely, { nextAt: at('14:20'), now: at('14:20') });
    expect(inTime).toMatchObject({ fire: at('14:20'), hasBacklog: false, isCatchUp: false });
  });

  it("start runs only if they're within the run_all window, counted from the start of the catch-up", () => {
    const policy = hourly({ policy: 'run_all', withinMs: 3 * hour, atMost: 24 });
    const skipped = { first: at('10:00'), last: at('11:00'), firings: 2 };
    expect(decideMisfire(policy, standing)).toMatchObject({ fire: at('12:00'), skipped, nextAt: at('13:00') });
    const later = { nextAt: at('13:00'), now: at('18:30'), behindSince: at('14:20') };
    expect(decideMisfire(policy, later)).toMatchObject({ fire: at('13:00'), hasBacklog: true });
  });

  it('are skipped, oldest first, if there are more than run_all may catch up', () => {
    const policy = hourly({ policy: 'run_all', withinMs: 24 * hour, atMost: 2 });
    const skipped = { first: at('10:00'), last: at('12:00'), firings: 3 };
    expect(decideMisfire(policy, standing)).toMatchObject({
      fire: at('13:00'),
      skipped,
      nextAt: at('14:00'),
      hasBacklog: true,
    });
  });

  it('can include a firing that the edited schedule no longer contains', () => {
    const given = { nextAt: at('14:10'), now: at('14:20') };
    for (const policy of ['run_once', 'run_all'] as const) {
      expect(decideMisfire(hourly({ policy }), given)).toMatchObject({ fire: at('14:10'), nextAt: at('15:00') });
    }
    expect(decideMisfire(hourly({ policy: 'skip' }), { nextAt: at('14:18'), now: at('14:20') })).toMatchObject({
      fire: at('14:18'),
    });
  });

  it('are found immediately and counted up to a limit, even after years of firings every minute', () => {
    const minutely: Schedule = {
      cron: '* * * * *',
      timezone: 'Europe/Berlin',
      misfire: { policy: 'run_all', withinMs: 366 * 24 * hour, atMost: 3 },
    };
    const decision = decideMisfire(minutely, { nextAt: at('10:00') - 3 * 365 * 24 * hour, now: at('10:00') });
    expect(decision).toMatchObject({ fire: at('09:58'), nextAt: at('09:59'), skipped: { firings: 1000 } });
  });

  it('cause as many runs as their policy says', () => {
    const runs = (misfire?: Misfire) => runsDue(hourly(misfire), standing);
    expect(runs()).toBe(1);
    expect(runs({ policy: 'skip' })).toBe(0);
    expect(runs({ policy: 'run_all', withinMs: 24 * hour, atMost: 24 })).toBe(5);
    expect(runs({ policy: 'run_all', withinMs: 24 * hour, atMost: 2 })).toBe(2);
    expect(runsDue(hourly(), { nextAt: at('15:00'), now: at('14:20') })).toBe(0);
    expect(runsDue(hourly(), { nextAt: null, now: at('14:20') })).toBe(0);
  });

  it('can be the last ones in their schedule', () => {
    const leap: Schedule = { cron: '0 0 29 2 *', timezone: 'UTC', misfire: { policy: 'run_all' } };
    const day = Date.parse('2028-02-29T00:00Z');
    expect(decideMisfire(leap, { nextAt: day, now: day + 365 * 24 * hour })).toMatchObject({
      fire: day,
      hasBacklog: false,
      isCatchUp: true,
    });
  });
});

describe("an interrupted run's firing", () => {
  const due = { nextAt: at('15:00'), now: at('14:20') };

  it('is the last one before the next firing, no matter how long ago, unless the policy has a window', () => {
    expect(firingBefore(hourly(), due)).toBe(at('14:00'));
    expect(firingBefore(hourly(), { nextAt: at('14:00'), now: at('14:20') }), 'the next firing is due, too').toBe(
      at('13:00'),
    );
    expect(firingBefore(hourly({ policy: 'run_all', withinMs: hour / 4 }), due)).toBeUndefined();
    expect(firingBefore(hourly({ policy: 'run_all', withinMs: hour / 3 }), due)).toBe(at('14:00'));
  });

  it('is skipped by the skip policy after the grace period', () => {
    const skip = hourly({ policy: 'skip', withinMs: 24 * hour });
    expect(firingBefore(skip, { ...due, now: at('14:05') })).toBe(at('14:00'));
    expect(firingBefore(skip, { ...due, now: at('14:05') + 1 })).toBeUndefined();
  });

  it("is ignored if it's older than 400 days", () => {
    const leap: Schedule = { cron: '0 0 29 2 *', timezone: 'UTC' };
    const [day, next] = [Date.parse('2028-02-29T00:00Z'), Date.parse('2032-02-29T00:00Z')];
    expect(firingBefore(leap, { nextAt: next, now: day + 400 * 24 * hour })).toBe(day);
    expect(firingBefore(leap, { nextAt: next, now: day + 400 * 24 * hour + 1 })).toBeUndefined();
  });
});
