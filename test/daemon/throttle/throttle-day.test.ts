import { describe, expect, it } from 'vitest';
import { firingsLeft, type Throttleable, throttleDay } from '../../../src/daemon/throttle/throttle-day.ts';
import fc from '../../property.ts';

const jobOf = (job: string, more: Partial<Throttleable> = {}): Throttleable => ({
  job,
  priority: 'normal',
  cost: 1000,
  firings: 24,
  ran: true,
  mayThrottle: true,
  ...more,
});

const drawn = fc
  .array(
    fc.record({
      priority: fc.constantFrom('high' as const, 'normal' as const, 'low' as const),
      cost: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3000 }), fc.constant(1000)),
      firings: fc.oneof(fc.nat(30), fc.nat(1440)),
      ran: fc.boolean(),
      mayThrottle: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    }),
    { maxLength: 30 },
  )
  .map((jobs) => jobs.map((job, i) => ({ job: `job-${i}`, ...job })));
const rooms = fc.oneof(fc.nat(2_000_000), fc.nat(50_000), fc.integer({ min: -5000, max: 0 }));

const throttles = ({ priority, mayThrottle }: Throttleable) => priority !== 'high' && mayThrottle;
/** The minimum number of firings left to a job. */
const fewest = (job: Throttleable) => (!throttles(job) ? job.firings : job.ran ? 0 : Math.min(1, job.firings));
const costOf = (jobs: readonly Throttleable[], left: (job: Throttleable) => number) =>
  jobs.reduce((sum, job) => sum + job.cost * left(job), 0);

function leftOf(jobs: readonly Throttleable[], room: number): (job: Throttleable) => number {
  const { every } = throttleDay(jobs, room);
  return ({ job, firings }) => firingsLeft(firings, every.get(job) ?? 1);
}

describe('a day with too few requests', () => {
  it('fits the allowance after throttling if possible, or else reports how many requests are missing', () => {
    fc.assert(
      fc.property(drawn, rooms, (jobs, room) => {
        const { short } = throttleDay(jobs, room);
        const left = costOf(jobs, leftOf(jobs, room));
        if (costOf(jobs, fewest) <= room) expect(left).toBeLessThanOrEqual(room);
        expect(short).toBe(Math.max(0, left - room));
      }),
    );
  });

  it('never lets a job run more often than configured or less than its minimum, and never throttles important jobs', () => {
    fc.assert(
      fc.property(drawn, rooms, (jobs, room) => {
        const { every } = throttleDay(jobs, room);
        const left = leftOf(jobs, room);
        for (const job of jobs) {
          expect(left(job)).toBeLessThanOrEqual(job.firings);
          expect(left(job)).toBeGreaterThanOrEqual(fewest(job));
          if (!throttles(job)) expect(every.has(job.job)).toBe(false);
        }
        for (const nth of every.values()) expect(nth === 0 || nth >= 2).toBe(true);
      }),
    );
  });

  it('throttles a class only once the less important class is at its minimum', () => {
    fc.assert(
      fc.property(drawn, rooms, (jobs, room) => {
        const { every } = throttleDay(jobs, room);
        const left = leftOf(jobs, room);
        const touched = jobs.some(({ job, priority }) => priority === 'normal' && every.has(job));
        if (!touched) return;
        for (const job of jobs) if (job.priority === 'low' && job.cost > 0) expect(left(job)).toBe(fewest(job));
      }),
    );
  });

  it('throttles the most expensive job in a class first, and jobs of equal cost in the order of their names', () => {
    const [cheap, dear] = [jobOf('cheap', { firings: 2 }), jobOf('dear', { firings: 2, cost: 3000 })];
    expect(throttleDay([cheap, dear], 5000)).toEqual({ every: new Map([['dear', 2]]), short: 0 });
    const equal = [jobOf('b', { firings: 2 }), jobOf('a', { firings: 2 }), jobOf('c', { firings: 2 })];
    expect(throttleDay(equal, 5000)).toEqual({ every: new Map([['a', 2]]), short: 0 });
  });

  it('changes nothing if everything fits, and throttles no more than needed', () => {
    fc.assert(
      fc.property(drawn, rooms, (jobs, room) => {
        const { every } = throttleDay(jobs, room);
        if (costOf(jobs, ({ firings }) => firings) <= room) expect([...every]).toEqual([]);
        // Without its last step, throttling would not have been sufficient.
        const left = leftOf(jobs, room);
        const total = costOf(jobs, left);
        const spared = jobs
          .filter(({ job }) => every.has(job))
          .map((job) => total + job.cost * (job.firings - left(job)));
        if (total <= room && spared.length > 0) expect(Math.max(...spared)).toBeGreaterThan(room);
      }),
    );
  });

  it('gives a job at least as many firings as the job would have with lower importance', () => {
    const up = { low: 'normal', normal: 'high', high: 'high' } as const;
    fc.assert(
      fc.property(drawn, rooms, fc.nat(29), (jobs, room, which) => {
        const job = jobs[which];
        if (job === undefined) return;
        const raised = { ...job, priority: up[job.priority] };
        const others = jobs.map((one) => (one === job ? raised : one));
        expect(leftOf(others, room)(raised)).toBeGreaterThanOrEqual(leftOf(jobs, room)(job));
      }),
    );
  });

  it("is throttled the same way regardless of the jobs' order in the config", () => {
    fc.assert(
      fc.property(drawn, rooms, (jobs, room) => {
        const sorted = (of: readonly Throttleable[]) => [...throttleDay(of, room).every].sort();
        expect(sorted(jobs.toReversed())).toEqual(sorted(jobs));
      }),
    );
  });
});

describe('an example day', () => {
  it("throttles the most expensive job to every third firing, and doesn't throttle the hourly job", () => {
    const jobs = [jobOf('busy', { firings: 60 }), jobOf('hourly'), jobOf('vip', { priority: 'high', firings: 100 })];
    expect(throttleDay(jobs, 160_000)).toEqual({ every: new Map([['busy', 2]]), short: 0 });
    expect(throttleDay(jobs, 132_000)).toEqual({
      every: new Map([
        ['busy', 3],
        ['hourly', 2],
      ]),
      short: 0,
    });
  });

  it("keeps the run of a daily job that hasn't run yet, while all other jobs rest", () => {
    const jobs = [jobOf('nightly', { firings: 1, ran: false, priority: 'low' }), jobOf('busy', { firings: 60 })];
    expect(throttleDay(jobs, 1000)).toEqual({ every: new Map([['busy', 0]]), short: 0 });
    expect(throttleDay(jobs, -2000)).toEqual({ every: new Map([['busy', 0]]), short: 3000 });
  });

  it('can have ten thousand jobs', () => {
    const jobs = Array.from({ length: 10_000 }, (_, i) => jobOf(`job-${i}`, { firings: 1440 }));
    expect(throttleDay(jobs, 5_000_000)).toMatchObject({ short: 0 });
  });
});
