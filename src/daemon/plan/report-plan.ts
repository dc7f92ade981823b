import type { Config, Destination } from '../../config/config.ts';
import { dayOf, limitOf, untilMidnight } from '../../delivery/quota.ts';
import { systemClock } from '../../lib/clock.ts';
import { countText } from '../../lib/count-text.ts';
import { cronFault } from '../../schedule/cron.ts';
import { runsDue } from '../../schedule/misfire.ts';
import { resumePlan } from '../../schedule/plan.ts';
import { firingsBetween, type Schedule } from '../../schedule/schedule.ts';
import type { JobRunStats } from '../../state/runs/run-stats.ts';
import type { Store } from '../../state/store.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import { readLoginHolds } from '../login-holds/read-login-holds.ts';
import { resumedSchedule } from '../login-holds/resumed-schedule.ts';
import { budgetsOfDay, bundleOf, costOf, maxRunsRead, type Scheduled, scheduledJobs } from '../throttle/day-budget.ts';
import { throttleDay } from '../throttle/throttle-day.ts';
import { throttleText } from '../throttle/throttle-text.ts';
import {
  type DayPlan,
  type PlannedAccount,
  type PlannedFiring,
  type PlannedJob,
  planRequests,
} from './plan-requests.ts';

/** The plan for one account's day, with advice if the day doesn't fit the allowance. */
export interface AccountPlan extends Omit<DayPlan, 'account'> {
  readonly destinations: readonly string[];
  /** The time until which the allowance is used up according to the service, in epoch milliseconds. */
  readonly spent_until?: number;
  /** The account's allowance for this day as reported by the service. Absent if the service hasn't reported it. */
  readonly allowance?: number;
  /** Names of jobs without a history. Each of their firings is assumed to need one request. */
  readonly guessed: readonly string[];
  /**
   * How the daemon throttles jobs today: only every nth firing runs (0: no firing runs). Empty if the day fits the
   * allowance or isn't today.
   */
  readonly throttled: readonly { readonly job: string; readonly every: number; readonly message: string }[];
  /** Changes that would make the plan fit, least disruptive first. Empty if the plan already fits. */
  readonly next: readonly string[];
}

/** The requests needed from now on. All times are in epoch milliseconds. */
export interface PlanReport {
  readonly now_at: number;
  readonly until: number;
  /** Whether every day of every account fits its allowance in the worst case. */
  readonly fits: boolean;
  readonly accounts: readonly AccountPlan[];
  /** The firings in chronological order. Undefined if there are more than {@link maxListed}. */
  readonly firings?: readonly PlannedFiring[];
  readonly firings_in_all: number;
}

export interface PlanQuestion {
  readonly config: Config;
  /** The state. Absent if nothing has run yet; every firing then counts as one request. */
  readonly store: Store | undefined;
  readonly now: number;
  /** End of the planned period. Default: the next midnight in New York, when the service resets the allowance. */
  readonly until?: number;
}

/** Maximum number of firings to list. A longer list wouldn't help readers, and might not fit into one string. */
const maxListed = 100_000;

/** Computes, from the data in the store, how many requests the schedules will need per account. Read-only. */
export async function reportPlan({
  config,
  store,
  now,
  until = now + untilMidnight(now),
}: PlanQuestion): Promise<PlanReport> {
  const scheduled = scheduledJobs(config);
  const tallies = (await store?.runStats.all(maxRunsRead)) ?? new Map<string, JobRunStats>();
  const jobs: PlannedJob[] = [];
  const deferred = (await store?.deferredFirings.earliest()) ?? new Map<string, number>();
  const loginHolds =
    store === undefined
      ? new Map<string, LoginHoldRow>()
      : await readLoginHolds(config, store, { ...systemClock, now: () => now });
  for (const job of scheduled) {
    const known = { tally: tallies.get(job.name), deferred: deferred.get(job.name) };
    const loginHold = loginHolds.get(job.extract?.source.name ?? '');
    jobs.push(await plannedJob(job, { store, now, ...known, loginHold }));
  }
  const guessed = scheduled.filter(({ name }) => costOf(tallies.get(name)).runs === 0).map(({ name }) => name);
  const throttles = await throttlesOf(config, store, now);
  const known = await accountsOf(config, store, { now, until });
  const firings: PlannedFiring[] = [];
  let all = 0;
  const onFiring = (firing: PlannedFiring): void => {
    if (++all <= maxListed) firings.push(firing);
  };
  const days = planRequests({ jobs, accounts: known, now, until, onFiring });
  const accounts = days.map(({ account, ...day }) => {
    const planned = known.find((one) => one.account === account)!;
    const isToday = day.day === dayOf(now);
    const isSpent = planned.spentUntil !== undefined && isToday;
    const fires = new Set(day.by_job.map(({ job }) => job));
    const given = {
      ...day,
      destinations: [...planned.limits.keys()],
      guessed: guessed.filter((job) => fires.has(job)),
      throttled: isToday ? (throttles.get(account) ?? []) : [],
      allowance: planned.allowance,
      ...(isSpent ? { spent_until: planned.spentUntil! } : {}),
    };
    return { ...given, next: adviceFor(given, { config, now, until, isSpent }) };
  });
  return {
    now_at: now,
    until,
    fits: accounts.every(({ worst }) => worst.fits),
    accounts,
    firings_in_all: all,
    ...(all > maxListed ? {} : { firings }),
  };
}

interface JobPlanContext {
  readonly store: Store | undefined;
  readonly now: number;
  readonly tally: JobRunStats | undefined;
  readonly deferred: number | undefined;
  /** The hold on the login of the job's source, if there is one. */
  readonly loginHold: LoginHoldRow | undefined;
}

async function plannedJob(job: Scheduled, context: JobPlanContext): Promise<PlannedJob> {
  const { store, now, tally, deferred = Number.POSITIVE_INFINITY, loginHold } = context;
  const { schedule } = job;
  const row = await store?.schedules.find(job.name);
  const written = row && { schedule: row.schedule, nextAt: Math.min(row.next_at, deferred) };
  const { nextAt } = resumePlan(schedule, written, now);
  const resumed = loginHold && resumedSchedule(schedule, loginHold, { nextAt, now });
  // A user may resume the job at any time, so only the expected case excludes the job.
  const held = (await store?.holds.find(job.name)) !== undefined || (loginHold !== undefined && resumed === undefined);
  const { worst, expected } = costOf(tally);
  return {
    job: job.name,
    destination: job.destination.name,
    schedule,
    overdue: resumed === undefined ? runsDue(schedule, { nextAt, now }) : resumed.runs,
    runsFrom: resumed?.at,
    worst,
    expected: held ? 0 : expected,
    bundle: bundleOf(job),
  };
}

/** Returns how the daemon would throttle jobs now, grouped by account. */
async function throttlesOf(
  config: Config,
  store: Store | undefined,
  now: number,
): Promise<Map<string, AccountPlan['throttled']>> {
  const until = now + untilMidnight(now);
  const budgets = await budgetsOfDay(config, store, { now });
  return new Map(
    budgets.map(({ account, jobs, room }) => {
      const throttled = [...throttleDay(jobs, room).every].map(([job, every]) => ({
        job,
        every,
        message: throttleText(config.jobs.get(job)!.schedule!, { every, now, until }),
      }));
      return [account, throttled];
    }),
  );
}

interface KnownAccount extends PlannedAccount {
  readonly allowance?: number;
}

async function accountsOf(
  { destinations }: Config,
  store: Store | undefined,
  { now, until }: { now: number; until: number },
): Promise<KnownAccount[]> {
  const owed = (await store?.outbox.inState('owed')) ?? [];
  const due = owed.filter(({ next_attempt_at }) => (next_attempt_at ?? now) < until);
  const byAccount = Map.groupBy(destinations.values(), ({ account }: Destination) => account);
  const accounts: KnownAccount[] = [];
  for (const [account, sharing] of byAccount) {
    const { used = 0, others = 0, allowance, spentUntil } = (await store?.quota.use(account, dayOf(now))) ?? {};
    const names = new Set(sharing.map(({ name }) => name));
    const waiting = Map.groupBy(
      due.filter(({ destination }) => names.has(destination)),
      ({ job }) => job,
    );
    accounts.push({
      account,
      limits: new Map(sharing.map((one) => [one.name, limitOf(one, 'schedule', { allowance })])),
      used,
      others,
      allowance,
      owed: new Map([...waiting].map(([job, rows]) => [job, rows.length])),
      spentUntil,
    });
  }
  return accounts;
}

type Advised = Omit<AccountPlan, 'next'>;
interface PlanContext {
  readonly config: Config;
  readonly now: number;
  readonly until: number;
  readonly isSpent: boolean;
}

/**
 * Returns advice on how to make an overbooked day fit. Suggests a schedule only if a computation has shown that its
 * firings are infrequent enough.
 */
function adviceFor(day: Advised, { config, now, until, isSpent }: PlanContext): string[] {
  if (day.worst.fits) return [];
  if (isSpent) return ['wait until midnight, when unsent payloads will be sent'];
  const starved = config.jobs.get(day.worst.short[0]!.job)?.destination.name ?? day.destinations[0]!;
  const { name, requestsPerDay, reserveRequests } = config.destinations.get(starved)!;
  const over = Math.max(1, day.used + day.worst.wanted - (requestsPerDay - reserveRequests));
  const advice: string[] = [];
  const dearest = day.by_job.toSorted((a, b) => b.worst - a.worst)[0];
  if (dearest !== undefined) {
    const maxFirings = Math.floor(((dearest.worst - over) / dearest.worst) * dearest.firings);
    const span = { after: Math.max(now, day.turns_at - 25 * 3_600_000), until: Math.min(until, day.turns_at) };
    const sparser = sparserThan(config.jobs.get(dearest.job)!.schedule!, { ...span, most: maxFirings });
    if (sparser !== undefined) advice.push(`change the schedule of ${dearest.job} to "${sparser}"`);
    else if (maxFirings > 0) advice.push(`limit ${dearest.job} to ${maxFirings} scheduled runs in that period`);
  }
  if (reserveRequests >= over) advice.push(`lower reserve_requests of ${name} to ${reserveRequests - over}`);
  const { allowance } = day;
  if (allowance === undefined) {
    advice.push(`raise requests_per_day of ${name} to ${requestsPerDay + over}, if the account allows that many`);
  } else if (allowance > requestsPerDay) {
    const raised = Math.min(allowance, requestsPerDay + over);
    advice.push(`raise requests_per_day of ${name} to ${raised}: the service allows ${countText(allowance)}`);
  }
  return advice;
}

/**
 * Returns the most frequent schedule with the same pattern but fewer minutes that fires at most `most` times, or
 * undefined if there is none.
 */
function sparserThan(
  schedule: Schedule,
  { after, until, most: maxFirings }: { after: number; until: number; most: number },
): string | undefined {
  if (!('cron' in schedule)) return undefined;
  const [minute, ...rest] = schedule.cron.trim().split(/\s+/);
  if (!minute?.startsWith('*') || rest.length !== 4) return undefined;
  for (const minutes of ['*/2', '*/3', '*/5', '*/10', '*/15', '*/20', '*/30', '0']) {
    const candidate = [minutes, ...rest].join(' ');
    if (cronFault(candidate) !== undefined) continue;
    let count = 0;
    for (const _ of firingsBetween({ ...schedule, cron: candidate }, after, until - 1)) if (++count > maxFirings) break;
    if (count <= maxFirings) return candidate;
  }
  return undefined;
}
