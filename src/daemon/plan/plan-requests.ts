import { dayOf, untilMidnight } from '../../delivery/quota.ts';
import type { Schedule } from '../../schedule/schedule.ts';
import { firingsOf } from './planned-firings.ts';

/** One job's request costs. They're in thousandths of a request per firing, so that sums are exact. */
export interface PlannedJob {
  readonly job: string;
  readonly destination: string;
  readonly schedule: Schedule;
  /** Number of catch-up runs that are due now or, if `runsFrom` is set, at that time. */
  readonly overdue: number;
  /** If set, the job doesn't run before this time, because its source's login is on hold. */
  readonly runsFrom?: number;
  /** Cost of a firing that sends a payload. Recent retries are included. */
  readonly worst: number;
  /** Average recent cost of a firing. The average includes runs whose data was unchanged and that sent no request. */
  readonly expected: number;
  /** Jobs with the same bundle that fire at the same time share one request, which is charged to the first of them. */
  readonly bundle?: string;
}

/** One account. Several destinations may share the account, each with its own limit. */
export interface PlannedAccount {
  readonly account: string;
  /** Each destination's limit. Scheduled jobs may send requests until the account's usage for the day reaches it. */
  readonly limits: ReadonlyMap<string, number>;
  /** Number of requests used today. */
  readonly used: number;
  /** The part of `used` that other users of the account sent. */
  readonly others?: number;
  /** Number of pending requests, by job. They're sent before any others. */
  readonly owed: ReadonlyMap<string, number>;
  /** The time until which the allowance is used up according to the service, in epoch milliseconds. */
  readonly spentUntil?: number;
}

/** One firing, and whether it gets no requests in the worst case. */
export interface PlannedFiring {
  readonly at: number;
  readonly job: string;
  readonly account: string;
  readonly worst: number;
  readonly expected: number;
  readonly short: boolean;
}

/** The worst or expected case for one account's day, in requests, rounded up. */
export interface Course {
  /** Number of requests needed for the rest of the day, including pending requests. */
  readonly wanted: number;
  /** Number of requests that scheduled jobs have left after all these requests. Negative if the requests don't fit. */
  readonly left: number;
  readonly fits: boolean;
  /** The time of the first firing that gets no requests, in epoch milliseconds. */
  readonly ends_at?: number;
  /** Jobs that must wait for the next day. Jobs with the most firings come first. */
  readonly short: readonly { readonly job: string; readonly firings: number; readonly first_at: number }[];
}

/** The plan for one account's day. */
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

/** One job's share of a day's requests, rounded up. */
export interface JobPlan {
  readonly job: string;
  readonly firings: number;
  readonly first_at: number;
  readonly last_at: number;
  readonly worst: number;
  readonly expected: number;
  /** Number of retries after failed sends in the worst case. */
  readonly retries: number;
  readonly short: number;
}

export interface PlanOptions {
  readonly jobs: readonly PlannedJob[];
  readonly accounts: readonly PlannedAccount[];
  readonly now: number;
  /** End of the planned period (exclusive), in epoch milliseconds. */
  readonly until: number;
  /** Called for every firing, in chronological order. */
  readonly onFiring?: (firing: PlannedFiring) => void;
}

const whole = 1000;
const free = { worst: 0, expected: 0 };

/**
 * Simulates the firings in chronological order and charges each of them to its account's day, in both the worst and the
 * expected case. If a firing doesn't get enough requests, it stays unserved for the rest of its day. On the next day,
 * the newest result of each affected job is sent first. Memory use depends on the number of schedules and jobs, but not
 * on the number of firings.
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

/** One job's share of a simulated day. All costs are in thousandths of a request. */
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

/** One day of an account in the simulation. */
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
    const highestLimit = Math.max(...planned.limits.values());
    for (const [job, requests] of planned.owed) {
      for (const spending of [this.#worst, this.#expected]) {
        for (let i = 0; i < requests; i++) spending.pay({ job, cost: whole, limit: highestLimit, at: from });
      }
    }
  }

  /** Charges a firing to the day. Returns whether the firing gets no requests in the worst case. */
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

  /** Starts the next day with a full allowance. The results that got no requests on the previous day are sent first. */
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

/** The worst or expected case for a day, in thousandths of a request. */
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
