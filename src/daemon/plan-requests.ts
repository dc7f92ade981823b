import { dayOf, untilMidnight } from '../delivery/quota.ts';
import { firingsBetween, type Schedule, scheduleKey } from '../schedule/schedule.ts';

/** A job as far as its requests go. Costs are thousandths of a request for one firing, so that sums stay exact. */
export interface PlannedJob {
  readonly job: string;
  readonly destination: string;
  readonly schedule: Schedule;
  /** A firing that was missed and is due at once. */
  readonly overdue: boolean;
  /** When the firing sends, with the repeats that its sends have needed of late. */
  readonly worst: number;
  /** What a firing has come to of late: runs that found nothing new send nothing. */
  readonly expected: number;
}

/** One purse. Several destinations may pay from it, each up to a limit of its own. */
export interface Purse {
  readonly account: string;
  /** By destination: requests a day that scheduled work may bring the account to. */
  readonly limits: ReadonlyMap<string, number>;
  /** Requests of the present day that are gone. */
  readonly used: number;
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

export interface PlanGiven {
  readonly jobs: readonly PlannedJob[];
  readonly purses: readonly Purse[];
  readonly now: number;
  /** Firings before this instant count (epoch ms). */
  readonly until: number;
  /** Told of every firing, in order of time. */
  readonly onFiring?: (firing: PlannedFiring) => void;
}

const whole = 1000;

/**
 * Walks through the firings in order of time and pays each from its account's day, once at its worst and once as is to be
 * expected. A firing that cannot be paid goes short for the rest of its day; of each job that went short the newest
 * result opens the day after. Memory grows with distinct schedules and jobs, not with the firings of jobs.
 */
export function planRequests({ jobs, purses, now, until, onFiring }: PlanGiven): DayPlan[] {
  const known = new Map(purses.map((purse) => [purse.account, purse]));
  const accountOf = new Map(purses.flatMap(({ account, limits }) => [...limits.keys()].map((name) => [name, account])));
  const open = new Map(purses.map((purse) => [purse.account, new Day(purse, now)]));
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
  for (const { at, job } of firingsOf(jobs, now, until)) {
    const account = accountOf.get(job.destination)!;
    const short = dayAt(account, at).pay(job, at);
    onFiring?.({ at, job: job.job, account, worst: job.worst / whole, expected: job.expected / whole, short });
  }
  for (const account of known.keys()) dayAt(account, Math.max(now, until - 1));
  return [...done, ...[...open.values()].map((day) => day.plan())].sort((a, b) => a.turns_at - b.turns_at);
}

/** All firings in order of time; those of one instant in the order of the config. Each schedule is reckoned once. */
function* firingsOf(
  jobs: readonly PlannedJob[],
  now: number,
  until: number,
): Generator<{ readonly at: number; readonly job: PlannedJob }> {
  for (const job of jobs) if (job.overdue) yield { at: now, job };
  const order = new Map(jobs.map((job, i) => [job, i]));
  const alike = Map.groupBy(jobs, ({ schedule }) => scheduleKey(schedule));
  const due = new Map<number, PlannedJob[][]>();
  for (const group of alike.values()) {
    for (const at of firingsBetween(group[0]!.schedule, now, until - 1)) {
      const groups = due.get(at);
      if (groups === undefined) due.set(at, [group]);
      else groups.push(group);
    }
  }
  for (const at of [...due.keys()].sort((a, b) => a - b)) {
    const groups = due.get(at)!;
    const together = groups.length === 1 ? groups[0]! : groups.flat().sort((a, b) => order.get(a)! - order.get(b)!);
    for (const job of together) yield { at, job };
  }
}

/** One account's day while it is walked through. */
class Day {
  readonly turnsAt: number;
  readonly #purse: Purse;
  readonly #from: number;
  readonly #owed: number;
  readonly #worst: Spending;
  readonly #expected: Spending;
  readonly #jobs = new Map<string, { job: PlannedJob; firings: number; first: number; last: number; short: number }>();

  constructor(purse: Purse, from: number) {
    this.#purse = purse;
    this.#from = from;
    this.turnsAt = from + untilMidnight(from);
    this.#owed = [...purse.owed.values()].reduce((sum, one) => sum + one, 0);
    this.#worst = new Spending(purse);
    this.#expected = new Spending(purse);
    const most = Math.max(...purse.limits.values());
    for (const [job, requests] of purse.owed) {
      for (const spending of [this.#worst, this.#expected]) {
        for (let i = 0; i < requests; i++) spending.pay({ job, cost: whole, limit: most, at: from });
      }
    }
  }

  /** Whether the firing goes short in the worst case. */
  pay(job: PlannedJob, at: number): boolean {
    const limit = this.#purse.limits.get(job.destination)!;
    const short = !this.#worst.pay({ job: job.job, cost: job.worst, limit, at });
    this.#expected.pay({ job: job.job, cost: job.expected, limit, at });
    const tally = this.#jobs.get(job.job) ?? { job, firings: 0, first: at, last: at, short: 0 };
    tally.firings++;
    tally.last = at;
    if (short) tally.short++;
    this.#jobs.set(job.job, tally);
    return short;
  }

  /** The day after: a full purse, and what went short before it. */
  next({ account, limits }: Purse): Day {
    const owed = new Map([...this.#worst.short.keys()].map((job) => [job, 1]));
    return new Day({ account, limits, used: 0, owed }, this.turnsAt);
  }

  plan(): DayPlan {
    const jobs = [...this.#jobs.values()];
    const limit = Math.max(...this.#purse.limits.values());
    return {
      account: this.#purse.account,
      day: dayOf(this.#from),
      turns_at: this.turnsAt,
      limit,
      used: this.#purse.used,
      owed: this.#owed,
      firings: jobs.reduce((sum, { firings }) => sum + firings, 0),
      worst: this.#worst.course(limit),
      expected: this.#expected.course(limit),
      by_job: jobs.map(({ job, firings, first, last, short }) => ({
        job: job.job,
        firings,
        first_at: first,
        last_at: last,
        worst: Math.ceil((firings * job.worst) / whole),
        expected: Math.ceil((firings * job.expected) / whole),
        retries: Math.ceil((firings * (job.worst - whole)) / whole),
        short,
      })),
    };
  }
}

/** One case of a day. All in thousandths of a request. */
class Spending {
  readonly short = new Map<string, { firings: number; first: number }>();
  readonly #purse: Purse;
  #wanted = 0;
  #gone: number;
  #endsAt: number | undefined;

  constructor(purse: Purse) {
    this.#purse = purse;
    this.#gone = purse.used * whole;
  }

  pay({ job, cost, limit, at }: { job: string; cost: number; limit: number; at: number }): boolean {
    this.#wanted += cost;
    const shut = cost > 0 && at < (this.#purse.spentUntil ?? 0);
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
      left: limit - this.#purse.used - wanted,
      fits: this.short.size === 0,
      ...(this.#endsAt === undefined ? {} : { ends_at: this.#endsAt }),
      short: [...this.short]
        .map(([job, { firings, first }]) => ({ job, firings, first_at: first }))
        .sort((a, b) => b.firings - a.firings),
    };
  }
}
