import { dayOf, untilMidnight } from '../../delivery/quota.ts';
import type { Schedule } from '../../schedule/schedule.ts';
import { firingsOf } from './planned-firings.ts';

/** A job as far as its requests go. Costs are thousandths of a request for one firing, so that sums stay exact. */
export interface PlannedJob {
  readonly job: string;
  readonly destination: string;
  readonly schedule: Schedule;
  /** Runs that make up for missed firings, due at once or at `runsFrom`. */
  readonly overdue: number;
  /** The job doesn't run before this instant: the login of its source is on hold. */
  readonly runsFrom?: number;
  /** When the firing sends, with the repeats that its sends have needed of late. */
  readonly worst: number;
  /** What a firing has come to of late: runs that found nothing new send nothing. */
  readonly expected: number;
  /** Of jobs with the same one that fire together, only the first pays: they go out as one request. */
  readonly bundle?: string;
}

/** One account. Several destinations may share it, each up to a limit of its own. */
export interface PlannedAccount {
  readonly account: string;
  /** By destination: requests a day that scheduled work may bring the account to. */
  readonly limits: ReadonlyMap<string, number>;
  /** Requests of the present day that are gone. */
  readonly used: number;
  /** Of these, the ones that others were seen to make. */
  readonly others?: number;
  /** Requests that wait to be sent before anything else, by job. */
  readonly owed: ReadonlyMap<string, number>;
  /** The service has said that nothing is left until then (epoch ms). */
  readonly spentUntil?: number;
}

/** One firing and whether the worst case leaves it without its requests. */
export interface PlannedFiring {
  readonly at: number;
  readonly job: string;
  readonly account: string;
  readonly worst: number;
  readonly expected: number;
  readonly short: boolean;
}

/** What a case comes to on one day of one account. Requests, rounded up. */
export interface Course {
  /** All that is wanted of the day from now on, what is owed included. */
  readonly wanted: number;
  /** What is left for scheduled work when all of it was sent; negative when it does not fit. */
  readonly left: number;
  readonly fits: boolean;
  /** The first firing that gets nothing (epoch ms). */
  readonly ends_at?: number;
  /** Who waits for the day to turn, most firings first. */
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

/** One job's part of a day, in requests, rounded up. */
export interface JobPlan {
  readonly job: string;
  readonly firings: number;
  readonly first_at: number;
  readonly last_at: number;
  readonly worst: number;
  readonly expected: number;
  /** Of the worst case: repeats of sends that did not get through at once. */
  readonly retries: number;
  readonly short: number;
}

export interface PlanOptions {
  readonly jobs: readonly PlannedJob[];
  readonly accounts: readonly PlannedAccount[];
  readonly now: number;
  /** Firings before this instant count (epoch ms). */
  readonly until: number;
  /** Told of every firing, in order of time. */
  readonly onFiring?: (firing: PlannedFiring) => void;
}

const whole = 1000;
const free = { worst: 0, expected: 0 };

/**
 * Walks through the firings in order of time and pays each from its account's day, once at its worst and once as is to be
 * expected. A firing that cannot be paid goes short for the rest of its day; of each job that went short the newest
 * result opens the day after. Memory grows with distinct schedules and jobs, not with the firings of jobs.
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

/** One job's part of a day while it is walked through; costs in thousandths of a request. */
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

/** One account's day while it is walked through. */
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

  /** Whether the firing goes short in the worst case. */
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

  /** The day after: a full allowance, and what went short before it. */
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

/** One case of a day. All in thousandths of a request. */
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
