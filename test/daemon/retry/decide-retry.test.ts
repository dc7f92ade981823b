import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { attemptOf } from '../../../src/daemon/retry/attempt.ts';
import { decideRetry, type FailedAttempt } from '../../../src/daemon/retry/decide-retry.ts';
import { Problem, type ProblemOptions } from '../../../src/lib/problem.ts';
import { shareOf } from '../../../src/schedule/spread.ts';
import type { RetryRow } from '../../../src/state/tables.ts';

const [second, minute, hour] = [1000, 60_000, 3_600_000];
const rule = { firstMs: 30 * second, longestMs: 10 * minute, withinMs: 6 * hour };
const since = Date.parse('2026-11-23T12:00:00Z');
const seed = 'orders 1';

const away = (more: Partial<ProblemOptions> = {}) =>
  new Problem({ code: 'DB_UNREACHABLE', family: 'try_later', message: 'connection refused', ...more });

/** The decision after the first failed attempt of a run that began at noon. */
const decide = (more: Partial<FailedAttempt> = {}) =>
  decideRetry({ rule, problem: away(), attempt: 1, waits: 0, since, now: since, nextFiring: null, seed, ...more });

/** A wait whose random half comes from the seed. */
const waitOf = (span: number): number => span / 2 + (span / 2) * shareOf(seed);

describe('a run whose source is unavailable', () => {
  it('is retried after a wait that doubles up to the maximum', () => {
    const spans = [0.5, 1, 2, 4, 8, 10, 10].map((minutes) => minutes * minute);
    for (const [waits, span] of spans.entries()) {
      const at = Math.round(since + waitOf(span));
      expect(decide({ waits })).toEqual({ at, until: since + 6 * hour });
    }
  });

  it("isn't retried earlier than the source asks for", () => {
    expect(decide({ problem: away({ retryAfterMs: hour }) })).toMatchObject({ at: since + hour });
    expect(decide({ problem: away({ retryAfterMs: second }) })).toEqual(decide());
  });

  it.each(['config', 'login', 'row', 'quota', 'job', 'bug'] as const)(
    "isn't retried after an error in the %s family",
    (family) => {
      expect(decide({ problem: away({ family }) })).toEqual({});
    },
  );

  it.each([
    'JOB_BUSY',
    'LOGIN_BUSY',
    'CALL_AMBIGUOUS',
    'ACCOUNT_PAUSED',
    'INSTALLATION_CHANGED',
    'DISK_FULL',
    'STATE_BUSY',
  ])("isn't retried after %s, which other code retries", (code) => {
    expect(decide({ problem: away({ code }) })).toEqual({});
    expect(decide({ problem: away({ code: `X_${code}` }) })).toHaveProperty('at');
  });

  it('is retried as often as its rule allows', () => {
    const limited = { rule: { ...rule, attempts: 3 } };
    expect(decide({ ...limited, attempt: 2 })).toHaveProperty('at');
    expect(decide({ ...limited, attempt: 3 })).toEqual({ why: 'no more retries after 3 attempts' });
  });

  it('is retried only before its next firing and its deadline, and otherwise reports its failed attempts', () => {
    const at = Math.round(since + waitOf(30 * second));
    expect(decide({ nextFiring: at + 1 })).toEqual({ at, until: at + 1 });
    expect(decide({ nextFiring: at })).toEqual({});
    expect(decide({ nextFiring: at, attempt: 2 }).at).toBeUndefined();
    expect(decide({ nextFiring: since + second, attempt: 2 })).toEqual({
      why: '2 attempts failed since 2026-11-23 12:00:00Z; the next firing is at 2026-11-23 12:00:01Z',
    });
    expect(decide({ now: since + 6 * hour, attempt: 9 })).toEqual({
      why: '9 attempts failed since 2026-11-23 12:00:00Z; attempts end at 2026-11-23 18:00:00Z, 6h after the first',
    });
  });

  it("isn't retried if the source asks for a wait beyond the deadline, and its failure is reported immediately", () => {
    expect(decide({ problem: away({ retryAfterMs: 7 * hour }) })).toEqual({
      why: 'the source asked Sluice to wait until 2026-11-23 19:00:00Z; attempts end at 2026-11-23 18:00:00Z, 6h after the first',
    });
  });
});

describe("a run whose source's daily limit is exhausted", () => {
  const problem = away({ isDailyLimit: true });
  const until = since + 6 * hour;

  it('is retried once, as late as possible, no matter how often it has waited before', () => {
    const late = { at: Math.round(until - waitOf(30 * second)), until };
    expect(decide({ problem })).toEqual(late);
    expect(decide({ problem, waits: 5, now: until - 30 * second - 1 })).toEqual(late);
    expect(decide({ problem, now: until - 30 * second })).toEqual({
      why: '1 attempt failed since 2026-11-23 12:00:00Z; attempts end at 2026-11-23 18:00:00Z, 6h after the first',
    });
  });

  it("isn't retried if its job's next firing is earlier", () => {
    expect(decide({ problem, nextFiring: since + hour })).toEqual({
      why: 'the daily allowance is used up; the next firing is at 2026-11-23 13:00:00Z',
    });
  });

  it('is retried at the time that the source names, if it names one', () => {
    expect(decide({ problem: away({ isDailyLimit: true, retryAfterMs: hour }) })).toMatchObject({ at: since + hour });
  });
});

describe('an attempt', () => {
  const job = { name: 'orders', retry: rule } as Job;
  const given = { job, now: () => since + 0.4, firedAt: since, isKept: true };
  const former: RetryRow = {
    ...{ job: 'orders', run: 'r1', fired_at: since, logical_at: null, since: since - hour, facts: 'sealed' },
    ...{ attempt: 3, waits: 2, next_at: since, until: since + 5 * hour },
  };

  it("doesn't exist for a job that isn't retried", () => {
    expect(attemptOf({ ...given, job: { name: 'orders' } as Job })).toBeUndefined();
  });

  it('is the first of its run, or continues the run with its start time and earlier waits', () => {
    expect(attemptOf(given)).toMatchObject({ number: 1, run: undefined, isKept: true, handedOn: { sealed: null } });
    expect(attemptOf({ ...given, row: former })).toMatchObject({
      number: 4,
      run: 'r1',
      handedOn: { sealed: 'sealed' },
    });
    const first = attemptOf({ ...given, logicalAt: 7 })!.after('r1', away()).row;
    expect(first).toMatchObject({ job: 'orders', run: 'r1', fired_at: since, logical_at: 7, since, facts: null });
    expect(first).toMatchObject({ attempt: 1, waits: 1, until: since + 6 * hour });
    const next = attemptOf({ ...given, row: former })!.after('r1', away()).row;
    expect(next).toMatchObject({
      attempt: 4,
      waits: 3,
      since: since - hour,
      until: since + 5 * hour,
      logical_at: null,
    });
    expect(next!.next_at).toBeGreaterThanOrEqual(since + minute);
  });

  it("isn't followed by another one at or after its run's deadline, or at the run's next firing", () => {
    const { next_at } = attemptOf(given)!.after('r1', away()).row!;
    expect(attemptOf({ ...given, deadline: next_at })!.after('r1', away())).toEqual({});
    expect(attemptOf({ ...given, deadline: next_at + 1 })!.after('r1', away()).row).toMatchObject({
      until: next_at + 1,
    });
    const nextFiring = (from: number) => (from === former.since ? next_at : null);
    expect(attemptOf({ ...given, nextFiring })!.after('r1', away())).toHaveProperty('row.until', since + 6 * hour);
    expect(attemptOf({ ...given, row: former, nextFiring })!.after('r1', away())).toHaveProperty('why');
  });
});
