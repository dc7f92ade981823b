import { describe, expect, it } from 'vitest';
import { decideMisfire, graceMs } from '../../src/schedule/misfire.ts';
import { resumePlan } from '../../src/schedule/plan.ts';
import { firingsBetween, type Misfire, type Schedule } from '../../src/schedule/schedule.ts';
import fc, { runsOf } from '../property.ts';
import { allZones, type Change, changesOf, minuteMs } from './zones.ts';

const hour = 60 * minuteMs;
const day = 24 * hour;
const changes = allZones.flatMap((zone) => changesOf(zone));

const times = fc
  .uniqueArray(fc.integer({ min: 0, max: 1439 }), { minLength: 1, maxLength: 4 })
  .map((list) => list.sort((a, b) => a - b))
  .map((list) => list.map((at) => new Date(at * minuteMs).toISOString().slice(11, 16)));
const days = fc.option(fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }), { nil: undefined });
const cron = fc.constantFrom(
  '*/15 * * * *',
  '0 * * * *',
  '30 2 * * *',
  '0,30 1-3 * * *',
  '10 */6 * * MON-FRI',
  '@daily',
);

/** A schedule of any kind in any zone, and a time near one of its clock changes. */
const scheduled = fc.record({
  change: fc.constantFrom(...changes),
  kind: fc.oneof(
    cron.map((given) => ({ cron: given })),
    fc.record({ at: times, days }).map(({ days: on, at }) => (on === undefined ? { at } : { at, days: on })),
    fc
      .record({ every: fc.integer({ min: 15, max: 2000 }), from: fc.integer({ min: 0, max: 2e7 }) })
      .map(({ every, from }) => ({ every: every * minuteMs, from: from * minuteMs })),
  ),
  offset: fc.option(
    fc.integer({ min: 1, max: 3600 }).map((seconds) => seconds * 1000),
    { nil: 0 },
  ),
  before: fc.integer({ min: 0, max: 2 * day }),
});

/**
 * Periods without a check, in milliseconds. Between these, checking every minute would have the same result as checking
 * at their ends.
 */
const looks = fc.array(fc.oneof(fc.integer({ min: 1, max: minuteMs }), fc.integer({ min: 1, max: 9 * hour })), {
  minLength: 1,
  maxLength: 12,
});

function scheduleOf(
  { change, kind, offset }: { change: Change; kind: object; offset: number },
  misfire: Misfire,
): Schedule {
  return { ...kind, timezone: change.zone, offset, misfire } as Schedule;
}

interface Acted {
  readonly fired: number[];
  readonly passed: number;
  readonly lateness: number[];
}

/**
 * The firings handled at the checks; runs end immediately. Every check is a new process, which knows only the stored
 * plan.
 */
function act(schedule: Schedule, start: number, gaps: readonly number[]): Acted {
  const fired: number[] = [];
  const lateness: number[] = [];
  let [passed, now, plan] = [0, start, resumePlan(schedule, undefined, start)];
  for (const gap of gaps) {
    now += gap;
    plan = resumePlan(schedule, plan, now);
    let behindSince: number | undefined;
    while (plan.nextAt !== null && plan.nextAt <= now) {
      const decision = decideMisfire(schedule, { nextAt: plan.nextAt, now, behindSince });
      behindSince = decision.hasBacklog ? (behindSince ?? now) : undefined;
      passed += decision.skipped?.firings ?? 0;
      if (decision.fire !== undefined) {
        fired.push(decision.fire);
        lateness.push(now - decision.fire);
      }
      plan = { ...plan, nextAt: decision.nextAt };
    }
  }
  return { fired, passed, lateness };
}

const runs = { numRuns: runsOf(200) };
const total = (gaps: readonly number[]) => gaps.reduce((sum, gap) => sum + gap, 0);

describe('after any downtime, in any time zone, around any clock change', () => {
  it('run_all handles every firing exactly once and in order', () => {
    fc.assert(
      fc.property(scheduled, looks, (given, gaps) => {
        const schedule = scheduleOf(given, { policy: 'run_all', withinMs: 366 * day, atMost: 100_000 });
        const start = given.change.at * minuteMs - given.before;
        const { fired, passed } = act(schedule, start, gaps);
        expect(fired).toEqual([...firingsBetween(schedule, start, start + total(gaps))]);
        expect(passed).toBe(0);
      }),
      runs,
    );
  });

  it('run_all with a window and a maximum runs the newest missed firings, and counts the others', () => {
    fc.assert(
      fc.property(
        scheduled,
        fc.integer({ min: 1, max: 6 * day }),
        fc.integer({ min: 1, max: day }),
        fc.integer({ min: 1, max: 30 }),
        (given, gap, within, atMost) => {
          const schedule = scheduleOf(given, { policy: 'run_all', withinMs: within, atMost });
          const start = given.change.at * minuteMs - given.before;
          const all = [...firingsBetween(schedule, start, start + gap)];
          const { fired, passed } = act(schedule, start, [gap]);
          const wanted = all.filter((at) => at >= start + gap - Math.max(within, graceMs)).slice(-atMost);
          expect(fired).toEqual(wanted);
          expect(passed).toBe(Math.min(1000, all.length - wanted.length));
        },
      ),
      runs,
    );
  });

  it('run_once runs once at each check that finds due firings, and never twice for the same time', () => {
    fc.assert(
      fc.property(scheduled, looks, (given, gaps) => {
        const schedule = scheduleOf(given, { policy: 'run_once' });
        const start = given.change.at * minuteMs - given.before;
        let now = start;
        const wanted = gaps.flatMap((gap) => {
          const first = [...firingsBetween(schedule, now, now + gap)][0];
          now += gap;
          return first === undefined ? [] : [first];
        });
        expect(act(schedule, start, gaps).fired).toEqual(wanted);
      }),
      runs,
    );
  });

  it('skip runs no late firing and counts every firing that it skips', () => {
    fc.assert(
      fc.property(scheduled, looks, (given, gaps) => {
        const schedule = scheduleOf(given, { policy: 'skip' });
        const start = given.change.at * minuteMs - given.before;
        const { fired, passed, lateness } = act(schedule, start, gaps);
        const all = [...firingsBetween(schedule, start, start + total(gaps))];
        expect(Math.max(0, ...lateness)).toBeLessThanOrEqual(graceMs);
        expect(fired.every((at) => all.includes(at))).toBe(true);
        expect(new Set(fired).size).toBe(fired.length);
        if (gaps.every((gap) => gap < 10 * hour)) expect(fired.length + passed).toBe(all.length);
      }),
      runs,
    );
  });
});
