import { describe, expect, it } from 'vitest';
import {
  type PlannedAccount,
  type PlannedFiring,
  type PlannedJob,
  planRequests,
} from '../../../src/daemon/plan/plan-requests.ts';
import { costOf } from '../../../src/daemon/throttle/day-budget.ts';
import { nextFiring } from '../../../src/schedule/schedule.ts';
import fc, { runsOf } from '../../property.ts';

const minute = 60_000;
/** Eastern days of 24, 23 and 25 hours: their starts. */
const days = {
  ordinary: { from: Date.parse('2026-06-15T04:00Z'), hours: 24 },
  spring: { from: Date.parse('2026-03-08T05:00Z'), hours: 23 },
  autumn: { from: Date.parse('2026-11-01T04:00Z'), hours: 25 },
};

function jobOf(job: string, cron: string, more: Partial<PlannedJob> = {}): PlannedJob {
  const schedule = { cron, timezone: 'America/New_York' };
  return { job, destination: 'main', schedule, overdue: 0, worst: 1000, expected: 1000, ...more };
}

function accountWith(limit: number, more: Partial<PlannedAccount> = {}): PlannedAccount {
  return { account: 'acme', limits: new Map([['main', limit]]), used: 0, owed: new Map(), ...more };
}

/** A naive calculation: checks every minute, asks every job, and counts. */
function naive(jobs: readonly PlannedJob[], planned: PlannedAccount, now: number, until: number) {
  let gone = planned.used * 1000;
  let firings = 0;
  const short: string[] = [];
  for (let at = Math.floor(now / minute) * minute + minute; at < until; at += minute) {
    for (const job of jobs) {
      if (nextFiring(job.schedule, at - 1) !== at) continue;
      firings++;
      if (gone + job.worst > planned.limits.get('main')! * 1000) short.push(`${job.job} ${at}`);
      else gone += job.worst;
    }
  }
  return { firings, short };
}

describe.each(Object.entries(days))("a day's plan (%s)", (_, { from, hours }) => {
  it('counts the same firings as a check of every minute', () => {
    const crons = fc.constantFrom(
      '*/15 * * * *',
      '0 * * * *',
      '30 1,2 * * *',
      '7-50/9 0-4 * * *',
      '15 2 * * *',
      '@daily',
    );
    const zones = fc.constantFrom('America/New_York', 'Europe/Berlin', 'UTC', 'Australia/Lord_Howe');
    const offset = fc.constantFrom(0, 0, 7 * minute, 90 * minute);
    const job = fc.record({ cron: crons, timezone: zones, worst: fc.constantFrom(1000, 1250, 2333), offset });
    const property = fc.property(
      fc.array(job, { minLength: 1, maxLength: 4 }),
      fc.nat(200),
      fc.integer({ min: 0, max: hours * 60 - 1 }),
      (drawn, limit, late) => {
        const jobs = drawn.map(({ cron, timezone, worst, offset }, i) =>
          jobOf(`job-${i}`, cron, { schedule: { cron, timezone, offset }, worst }),
        );
        const [now, until] = [from + late * minute, from + hours * 60 * minute];
        const firings: PlannedFiring[] = [];
        const planned = accountWith(limit);
        const [day, ...more] = planRequests({
          jobs,
          accounts: [planned],
          now,
          until,
          onFiring: (it) => firings.push(it),
        });
        const counted = naive(jobs, planned, now, until);
        expect(more).toEqual([]);
        expect(day!.turns_at).toBe(until);
        expect(day!.firings).toBe(counted.firings);
        expect(firings.filter(({ short }) => short).map(({ job, at }) => `${job} ${at}`)).toEqual(counted.short);
        expect(firings.map(({ at }) => at)).toEqual(firings.map(({ at }) => at).toSorted((a, b) => a - b));
        expect(day!.worst.fits).toBe(counted.short.length === 0);
      },
    );
    fc.assert(property, { numRuns: runsOf(12) });
  });
});

describe("a day's planned requests", () => {
  const { from: now } = days.ordinary;
  const until = now + 24 * 60 * minute;

  it('go to owed payloads and overdue jobs first', () => {
    const planned = accountWith(5, { used: 2, owed: new Map([['old', 2]]) });
    const jobs = [jobOf('late', '0 12 * * *', { overdue: 1 })];
    const [day] = planRequests({ jobs, accounts: [planned], now, until });
    expect(day).toMatchObject({ owed: 2, firings: 2, worst: { wanted: 4, left: -1, fits: false } });
    expect(day!.worst.short).toEqual([{ job: 'late', firings: 1, first_at: now + 12 * 60 * minute }]);
  });

  it('have an expected value that omits the share of runs that recently found nothing new', () => {
    const [day] = planRequests({
      jobs: [jobOf('quiet', '0 * * * *', { expected: 100 })],
      accounts: [accountWith(10)],
      now,
      until,
    });
    expect(day!.worst).toMatchObject({ wanted: 23, fits: false });
    expect(day!.expected).toMatchObject({ wanted: 3, left: 7, fits: true });
  });

  it('have the full allowance again the next day, when the newest unsent payload goes first', () => {
    const jobs = [jobOf('hourly', '0 * * * *')];
    const [first, second] = planRequests({ jobs, accounts: [accountWith(20)], now, until: until + 24 * 60 * minute });
    expect(first!.worst.short[0]?.firings).toBe(3);
    expect(second).toMatchObject({ used: 0, owed: 1, firings: 24, worst: { wanted: 25 } });
  });

  it("don't fit before the time at which the service resets the allowance", () => {
    const planned = accountWith(100, { spentUntil: now + 6 * 60 * minute });
    const [day] = planRequests({ jobs: [jobOf('hourly', '0 * * * *')], accounts: [planned], now, until });
    expect(day!.worst.short[0]?.firings).toBe(5);
  });

  it('include only one request for refreshes that are sent together', () => {
    const hourly = { bundle: 'one' };
    const jobs = [jobOf('a', '0 * * * *', hourly), jobOf('b', '0 * * * *', hourly), jobOf('c', '0 * * * *')];
    const [day] = planRequests({ jobs, accounts: [accountWith(100)], now, until });
    expect(day).toMatchObject({ firings: 69, worst: { wanted: 46 } });
    expect(day!.by_job.map(({ job, worst }) => [job, worst])).toEqual([
      ['a', 23],
      ['b', 0],
      ['c', 23],
    ]);
  });

  it('are limited separately for each destination of a shared account', () => {
    const limits = new Map([
      ['main', 10],
      ['small', 2],
    ]);
    const jobs = [jobOf('a', '0 1-3 * * *'), jobOf('b', '0 1-3 * * *', { destination: 'small' })];
    const [day] = planRequests({ jobs, accounts: [accountWith(0, { limits })], now, until });
    expect(day!.worst.short.map(({ job, firings }) => [job, firings])).toEqual([['b', 2]]);
  });
});

describe("a firing's cost", () => {
  it('is one request as long as no runs are known', () => {
    expect(costOf(undefined)).toEqual({ worst: 1000, expected: 1000, runs: 0 });
  });

  it('includes repeated attempts, and is reduced by the usual share of runs that find nothing new', () => {
    expect(costOf({ sent: 2, requests: 3, quiet: 2, shared: 0 })).toEqual({ worst: 1500, expected: 750, runs: 4 });
  });

  it('is one request for a refresh that was always sent with others, because it may be the first of them', () => {
    expect(costOf({ sent: 0, requests: 0, quiet: 0, shared: 7 })).toEqual({ worst: 1000, expected: 1000, runs: 7 });
  });
});
