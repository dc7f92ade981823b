import type { Config, Destination, Job } from '../config/config.ts';
import { dayOf, untilMidnight } from '../delivery/quota.ts';
import { cronFault } from '../schedule/cron.ts';
import { resumePlan } from '../schedule/plan.ts';
import { firingsBetween, type Schedule } from '../schedule/schedule.ts';
import type { Store } from '../state/store.ts';
import type { RunRow } from '../state/tables.ts';
import { type DayPlan, type PlannedFiring, type PlannedJob, type Purse, planRequests } from './plan-requests.ts';

/** What one account's day comes to, with what to do where it does not fit. */
export interface AccountPlan extends Omit<DayPlan, 'account'> {
  readonly destinations: readonly string[];
  /** The service has said that nothing is left until then (epoch ms). */
  readonly spent_until?: number;
  /** What would make it fit, the least painful first; empty when it fits. */
  readonly next: readonly string[];
}

/** The requests from now on. Instants are epoch milliseconds. */
export interface PlanReport {
  readonly now_at: number;
  readonly until: number;
  /** The worst case fits every account's day. */
  readonly fits: boolean;
  readonly accounts: readonly AccountPlan[];
  /** In order of time; undefined where there are more than {@link mostListed}. */
  readonly firings?: readonly PlannedFiring[];
  readonly firings_in_all: number;
}

export interface PlanQuestion {
  readonly config: Config;
  /** Absent: nothing has run yet, and every firing is reckoned as one request. */
  readonly store: Store | undefined;
  readonly now: number;
  /** Absent: the next midnight in New York, when the day turns at the service. */
  readonly until?: number;
}

/** Beyond this a list of firings serves nobody, and would not fit into one text. */
const mostListed = 100_000;
/** Runs of a job that its estimate rests on. */
const runsLookedAt = 200;

/** Reads the store and reckons what the schedules will ask of every account; asks nobody and changes nothing. */
export async function reportPlan({
  config,
  store,
  now,
  until = now + untilMidnight(now),
}: PlanQuestion): Promise<PlanReport> {
  const scheduled = [...config.jobs.values()].filter(({ enabled, schedule }) => enabled && schedule !== undefined);
  const jobs: PlannedJob[] = [];
  for (const job of scheduled) jobs.push(await plannedJob(job, store, now));
  const purses = await pursesOf(config, store, { now, until });
  const firings: PlannedFiring[] = [];
  let all = 0;
  const onFiring = (firing: PlannedFiring): void => {
    if (++all <= mostListed) firings.push(firing);
  };
  const days = planRequests({ jobs, purses, now, until, onFiring });
  const accounts = days.map(({ account, ...day }) => {
    const purse = purses.find((one) => one.account === account)!;
    const isSpent = purse.spentUntil !== undefined && day.day === dayOf(now);
    const given = { ...day, destinations: [...purse.limits.keys()] };
    const shut = isSpent ? { spent_until: purse.spentUntil! } : {};
    return { ...given, ...shut, next: adviceFor(given, { config, now, until, isSpent }) };
  });
  return {
    now_at: now,
    until,
    fits: accounts.every(({ worst }) => worst.fits),
    accounts,
    firings_in_all: all,
    ...(all > mostListed ? {} : { firings }),
  };
}

async function plannedJob(job: Job, store: Store | undefined, now: number): Promise<PlannedJob> {
  const schedule = job.schedule!;
  const row = await store?.schedules.find(job.name);
  const { nextAt } = resumePlan(schedule, row && { schedule: row.schedule, nextAt: row.next_at }, now);
  const runs = (await store?.runs.history({ job: job.name, limit: runsLookedAt })) ?? [];
  const held = (await store?.holds.find(job.name)) !== undefined;
  const { worst, expected } = costOf(runs);
  return {
    job: job.name,
    destination: job.destination.name,
    schedule,
    overdue: nextAt !== null && nextAt <= now,
    worst,
    // A person may let it run again at any moment, so only the expectation leaves it out.
    expected: held ? 0 : expected,
  };
}

/** Thousandths of a request that a firing costs, by what became of earlier runs; one whole request without any. */
export function costOf(runs: readonly Pick<RunRow, 'state' | 'requests'>[]): { worst: number; expected: number } {
  const sent = runs.filter(({ state, requests }) => requests > 0 && state !== 'running' && state !== 'owed');
  const quiet = runs.filter(({ state, requests }) => requests === 0 && state === 'unchanged');
  const requests = sent.reduce((sum, run) => sum + run.requests, 0);
  const worst = sent.length === 0 ? 1000 : Math.round((requests * 1000) / sent.length);
  const known = sent.length + quiet.length;
  return { worst, expected: known === 0 ? worst : Math.round((worst * sent.length) / known) };
}

async function pursesOf(
  { destinations }: Config,
  store: Store | undefined,
  { now, until }: { now: number; until: number },
): Promise<Purse[]> {
  const owed = (await store?.outbox.inState('owed')) ?? [];
  const due = owed.filter(({ next_attempt_at }) => (next_attempt_at ?? now) < until);
  const byAccount = Map.groupBy(destinations.values(), ({ account }: Destination) => account);
  const purses: Purse[] = [];
  for (const [account, sharing] of byAccount) {
    const { used = 0, spentUntil } = (await store?.quota.use(account, dayOf(now))) ?? {};
    const names = new Set(sharing.map(({ name }) => name));
    const waiting = Map.groupBy(
      due.filter(({ destination }) => names.has(destination)),
      ({ job }) => job,
    );
    purses.push({
      account,
      limits: new Map(sharing.map((one) => [one.name, one.requestsPerDay - one.reserveRequests])),
      used,
      owed: new Map([...waiting].map(([job, rows]) => [job, rows.length])),
      ...(spentUntil === undefined ? {} : { spentUntil }),
    });
  }
  return purses;
}

type Advised = Omit<AccountPlan, 'next' | 'spent_until'>;
interface Around {
  readonly config: Config;
  readonly now: number;
  readonly until: number;
  readonly isSpent: boolean;
}

/** What would make a day fit that does not. A schedule is only named when it was counted and found sparse enough. */
function adviceFor(day: Advised, { config, now, until, isSpent }: Around): string[] {
  if (day.worst.fits) return [];
  if (isSpent) return ['wait for the day to turn: what is owed is sent then'];
  const starved = config.jobs.get(day.worst.short[0]!.job)?.destination.name ?? day.destinations[0]!;
  const { name, requestsPerDay, reserveRequests } = config.destinations.get(starved)!;
  const over = Math.max(1, day.used + day.worst.wanted - (requestsPerDay - reserveRequests));
  const advice: string[] = [];
  const dearest = day.by_job.toSorted((a, b) => b.worst - a.worst)[0];
  if (dearest !== undefined) {
    const mostFirings = Math.floor(((dearest.worst - over) / dearest.worst) * dearest.firings);
    const span = { after: Math.max(now, day.turns_at - 25 * 3_600_000), until: Math.min(until, day.turns_at) };
    const sparser = sparserThan(config.jobs.get(dearest.job)!.schedule!, { ...span, most: mostFirings });
    if (sparser !== undefined) advice.push(`give ${dearest.job} the schedule "${sparser}"`);
    else if (mostFirings > 0) advice.push(`let ${dearest.job} fire at most ${mostFirings} times in that time`);
  }
  if (reserveRequests >= over) advice.push(`lower reserve_requests of ${name} to ${reserveRequests - over}`);
  advice.push(`raise requests_per_day of ${name} to ${requestsPerDay + over}, if the account has them`);
  return advice;
}

/** The same schedule with fewer minutes, the densest that fires at most that often; undefined when there is none. */
function sparserThan(
  schedule: Schedule,
  { after, until, most }: { after: number; until: number; most: number },
): string | undefined {
  if (!('cron' in schedule)) return undefined;
  const [minute, ...rest] = schedule.cron.trim().split(/\s+/);
  if (!minute?.startsWith('*') || rest.length !== 4) return undefined;
  for (const minutes of ['*/2', '*/3', '*/5', '*/10', '*/15', '*/20', '*/30', '0']) {
    const candidate = [minutes, ...rest].join(' ');
    if (cronFault(candidate) !== undefined) continue;
    let count = 0;
    for (const _ of firingsBetween({ ...schedule, cron: candidate }, after, until - 1)) if (++count > most) break;
    if (count <= most) return candidate;
  }
  return undefined;
}
