import { dayOf, untilMidnight } from '../../delivery/quota.ts';
import type { Schedule } from '../../schedule/schedule.ts';
import { firingsOf } from './planned-firings.ts';

/** One job's requests. Costs are in thousandths of a request per firing, so that sums are exact. */
export interface PlannedJob {
  readonly job: string;
  readonly destination: string;
  readonly schedule: Schedule;
  /** Number of catch-up runs that are due now, or at `runsFrom` if it's set. */
  readonly overdue: number;
  /** The job doesn't run before this time, because its source's login is on hold. */
  readonly runsFrom?: number;
  /** Cost of a firing that sends a payload, based on recent retries. */
  readonly worst: number;
  /** Average recent cost of a firing, including runs without changes, which send nothing. */
  readonly expected: number;
  /** Jobs with the same bundle that fire together share one request, charged to the first. */
  readonly bundle?: string;
}

/** One account. Several destinations may share it, each with its own limit. */
export interface PlannedAccount {
  readonly account: string;
  /** By destination: scheduled jobs may send until the account's usage for the day reaches this limit. */
  readonly limits: ReadonlyMap<string, number>;
  /** Requests used today. */
  readonly used: number;
  /** The part of it made by others. */
  readonly others?: number;
  /** Number of pending requests, which are sent first, by job. */
  readonly owed: ReadonlyMap<string, number>;
  /** Until when the allowance is used up, according to the service (epoch ms). */
  readonly spentUntil?: number;
}

/** One firing, and whether the worst case leaves no requests for it. */
export interface PlannedFiring {
  readonly at: number;
  readonly job: string;
  readonly account: string;
  readonly worst: number;
  readonly expected: number;
  readonly short: boolean;
}

/** The worst or expected case for one day of one account, in requests, rounded up. */
export interface Course {
  /** All requests needed for the rest of today, including pending ones. */
  readonly wanted: number;
  /** What remains for scheduled jobs after all these requests; negative if they don't fit. */
  readonly left: number;
  readonly fits: boolean;
  /** The first firing that gets no requests (epoch ms). */
  readonly ends_at?: number;
  /** Jobs that have to wait for the next day, most firings first. */
  readonly short: readonly { readonly job: string; readonly firings: number; readonly first_at: number }[];
}

/** One day of one account. */
export interface DayPlan {
  readonly account: string;
  readonly day: string;
  readonly turns_at: number;
  readonly limit: number;
  readonly used: number;
  readonly others: number;
  readonly owed: number;
  readonly firings: number;
  readonly worst: Course;
  readonly expected: Course;
  readonly by_job: readonly JobPlan[];
}

/** One job's share of a day, in requests, rounded up. */
export interface JobPlan {
  readonly job: string;
  readonly firings: number;
  readonly first_at: number;
  readonly last_at: number;
  readonly worst: number;
  readonly expected: number;
  /** Worst-case number of retries after failed sends. */
  readonly retries: number;
  readonly short: number;
}

export interface PlanOptions {
  readonly jobs: readonly PlannedJob[];
  readonly accounts: readonly PlannedAccount[];
  readonly now: number;
  /** End of the plan, exclusive (epoch ms). */
  readonly until: number;
  /** Called for every firing, in chronological order. */
  readonly onFiring?: (firing: PlannedFiring) => void;
}

const whole = 1000;
const free = { worst: 0, expected: 0 };

/**
 * Simulates the firings in chronological order and charges each to its account's day, in both the worst and the
 * expected case. A firing that doesn't get enough requests is short for the rest of its day. On the next day, the
 * newest result of each job that was short is sent first. Memory use depends on the number of schedules and jobs, not
 * of firings.
 */
export function planRequests({ jobs, accounts, now, until, onFiring }: PlanOptions): DayPlan[] {
  const known = new Map(accounts.map((planned) => [planned.account, planned]));
  const accountOf = new Map(
    accounts.flatMap(({ account, limits }) => [...limits.keys()].map((name) => [name, account])),
  );
  const open = new Map(accounts.map((planned) => [planned.account, new Day(planned, now)]));
  const done: DayPlan[] = [];
  const dayAt = (account: string, at: number): Day => {
    let day = open.get(account)!;
    while (at >= day.turnsAt) {
      done.push(day.plan());
      day = day.next(known.get(account)!);
      open.set(account, day);
    }
    return day;
  };
  const bundles = new Map<string, number>();
  for (const { at, job } of firingsOf(jobs, now, until)) {
    const account = accountOf.get(job.destination)!;
    const isPaid = job.bundle !== undefined && bundles.get(job.bundle) === at;
    if (job.bundle !== undefined) bundles.set(job.bundle, at);
    const { worst, expected } = isPaid ? free : job;
    const short = dayAt(account, at).pay(job, { at, worst, expected });
    onFiring?.({ at, job: job.job, account, worst: worst / whole, expected: expected / whole, short });
  }
  for (const account of known.keys()) dayAt(account, Math.max(now, until - 1));
  return [...done, ...[...open.values()].map((day) => day.plan())].sort((a, b) => a.turns_at - b.turns_at);
}

/** One job's share of a simulated day. Costs are in thousandths of a request. */
interface JobTally {
  readonly job: PlannedJob;
  readonly first: number;
  last: number;
  firings: number;
  worst: number;
  expected: number;
  retries: number;
  short: number;
}

const nothing = { last: 0, firings: 0, worst: 0, expected: 0, retries: 0, short: 0 };

/** One account's day in the simulation. */
class Day {
  readonly turnsAt: number;
  readonly #account: PlannedAccount;
  readonly #from: number;
  readonly #owed: number;
  readonly #worst: Spending;
  readonly #expected: Spending;
  readonly #jobs = new Map<string, JobTally>();

  constructor(planned: PlannedAccount, from: number) {
    this.#account = planned;
    this.#from = from;
    this.turnsAt = from + untilMidnight(from);
    this.#owed = [...planned.owed.values()].reduce((sum, one) => sum + one, 0);
    this.#worst = new Spending(planned);
    this.#expected = new Spending(planned);
    const most = Math.max(...planned.limits.values());
    for (const [job, requests] of planned.owed) {
      for (const spending of [this.#worst, this.#expected]) {
        for (let i = 0; i < requests; i++) spending.pay({ job, cost: whole, limit: most, at: from });
      }
    }
  }

  /** Charges a firing. Returns whether it's short in the worst case. */
  pay(job: PlannedJob, { at, worst, expected }: { at: number; worst: number; expected: number }): boolean {
    const limit = this.#account.limits.get(job.destination)!;
    const short = !this.#worst.pay({ job: job.job, cost: worst, limit, at });
    this.#expected.pay({ job: job.job, cost: expected, limit, at });
    const tally = this.#jobs.get(job.job) ?? { job, first: at, ...nothing };
    this.#jobs.set(job.job, tally);
    tally.firings++;
    tally.last = at;
    tally.worst += worst;
    tally.expected += expected;
    tally.retries += Math.max(0, worst - whole);
    if (short) tally.short++;
    return short;
  }

  /** Starts the next day, with a full allowance and the results that were short the day before. */
  next({ account, limits }: PlannedAccount): Day {
    const owed = new Map([...this.#worst.short.keys()].map((job) => [job, 1]));
    return new Day({ account, limits, used: 0, owed }, this.turnsAt);
  }

  plan(): DayPlan {
    const jobs = [...this.#jobs.values()];
    const limit = Math.max(...this.#account.limits.values());
    return {
      account: this.#account.account,
      day: dayOf(this.#from),
      turns_at: this.turnsAt,
      limit,
      used: this.#account.used,
      others: this.#account.others ?? 0,
      owed: this.#owed,
      firings: jobs.reduce((sum, { firings }) => sum + firings, 0),
      worst: this.#worst.course(limit),
      expected: this.#expected.course(limit),
      by_job: jobs.map(({ job, firings, first, last, worst, expected, retries, short }) => ({
        job: job.job,
        firings,
        first_at: first,
        last_at: last,
        worst: Math.ceil(worst / whole),
        expected: Math.ceil(expected / whole),
        retries: Math.ceil(retries / whole),
        short,
      })),
    };
  }
}

/** The worst or expected case of a day, in thousandths of a request. */
class Spending {
  readonly short = new Map<string, { firings: number; first: number }>();
  readonly #account: PlannedAccount;
  #wanted = 0;
  #gone: number;
  #endsAt: number | undefined;

  constructor(planned: PlannedAccount) {
    this.#account = planned;
    this.#gone = planned.used * whole;
  }

  pay({ job, cost, limit, at }: { job: string; cost: number; limit: number; at: number }): boolean {
    this.#wanted += cost;
    const shut = cost > 0 && at < (this.#account.spentUntil ?? 0);
    if (!shut && (cost === 0 || this.#gone + cost <= limit * whole)) {
      this.#gone += cost;
      return true;
    }
    this.#endsAt ??= at;
    const tally = this.short.get(job) ?? { firings: 0, first: at };
    tally.firings++;
    this.short.set(job, tally);
    return false;
  }

  course(limit: number): Course {
    const wanted = Math.ceil(this.#wanted / whole);
    return {
      wanted,
      left: limit - this.#account.used - wanted,
      fits: this.short.size === 0,
      ends_at: this.#endsAt,
      short: [...this.short]
        .map(([job, { firings, first }]) => ({ job, firings, first_at: first }))
        .sort((a, b) => b.firings - a.firings),
    };
  }
}
