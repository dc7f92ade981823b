import { setImmediate as breathe } from 'node:timers/promises';
import { type Config, clientOf, type Job } from '../../config/config.ts';
import { dayOf, limitOf, startOfDay, untilMidnight } from '../../delivery/quota.ts';
import { firingsBetween, type Schedule, scheduleKey } from '../../schedule/schedule.ts';
import type { JobRunStats } from '../../state/runs/run-stats.ts';
import type { Store } from '../../state/store.ts';
import type { Throttleable } from './throttle-day.ts';

/** Number of calendars to calculate before yielding to the event loop. */
const atOnce = 50;
/** Maximum number of runs that a job's estimate is based on. */
export const maxRunsRead = 200;

/**
 * An account's remaining requests for the day, in thousandths of a request. If they might not be enough, also the jobs
 * that share them.
 */
export interface DayBudget {
  readonly account: string;
  /** The first destination whose requests count towards the account. */
  readonly destination: string;
  /**
   * Requests that remain for firings after all owed payloads are sent, in thousandths; negative if there aren't even
   * enough for the payloads.
   */
  readonly room: number;
  readonly jobs: readonly Throttleable[];
}

export type Scheduled = Job & { readonly schedule: Schedule };

/** A firing's cost in thousandths of a request. If the job has no earlier runs, one whole request is assumed. */
export interface Cost {
  /** The cost of a firing that sends a payload, including retries. */
  readonly worst: number;
  /** The average cost of all firings, including those that send nothing because nothing changed. */
  readonly expected: number;
  /** Number of runs that the cost is based on. If it's 0, the cost is a guess. */
  readonly runs: number;
}

/** The cost of a firing, based on earlier runs. */
export function costOf(tally: Omit<JobRunStats, 'lastAt'> | undefined): Cost {
  const { sent, requests, quiet, shared } = tally ?? unknown;
  const worst = sent === 0 ? 1000 : Math.round((requests * 1000) / sent);
  const runs = sent + quiet;
  return { worst, expected: runs === 0 ? worst : Math.round((worst * sent) / runs), runs: runs + shared };
}

const unknown = { sent: 0, requests: 0, quiet: 0, shared: 0 };

/** The scheduled jobs in a config. */
export function scheduledJobs({ jobs }: Config): Scheduled[] {
  return [...jobs.values()].filter((job): job is Scheduled => job.enabled && job.schedule !== undefined);
}

/**
 * Refreshes with the same key share a request: they have the same destination, client account and schedule. Undefined
 * for jobs that send their own requests.
 */
export function bundleOf({ extract, target, destination, schedule }: Scheduled): string | undefined {
  if (extract !== undefined) return undefined;
  return JSON.stringify([destination.name, clientOf({ target, destination }).clientId ?? '', scheduleKey(schedule)]);
}

/**
 * Returns each account's remaining requests for the current day. If an account might not have enough for its jobs'
 * firings from `from` on, also returns what each job needs.
 */
export async function budgetsOfDay(
  config: Config,
  store: Store | undefined,
  { now, from = now }: { now: number; from?: number },
): Promise<DayBudget[]> {
  const jobs = scheduledJobs(config);
  const counts = await countFirings(jobs, { from, until: now + untilMidnight(now) });
  const asked = (job: Job): number => counts.get(job.name) ?? 0;
  const budgets: DayBudget[] = [];
  for (const [account, sharing] of Map.groupBy(jobs, ({ destination }) => destination.account)) {
    const room = await roomOf(account, { sharing, config, store, now });
    const maxRequests = sharing.reduce((sum, job) => sum + asked(job) * surelyEnough, 0);
    const destination = sharing[0]!.destination.name;
    // If the upper bound fits into the allowance, there's no need to read the history of what may be thousands of jobs.
    const throttleable = maxRequests <= room ? [] : await throttleables(sharing, { store, now, asked });
    budgets.push({ account, destination, room, jobs: throttleable });
  }
  return budgets;
}

/** Upper bound on the mean cost per firing, in thousandths of a request. */
const surelyEnough = 1500;

interface BudgetContext {
  readonly sharing: readonly Scheduled[];
  readonly config: Config;
  readonly store: Store | undefined;
  readonly now: number;
}

async function roomOf(account: string, { sharing, config, store, now }: BudgetContext): Promise<number> {
  const { used = 0, allowance } = (await store?.quota.use(account, dayOf(now))) ?? {};
  const limits = sharing.map(({ destination }) => limitOf(destination, 'schedule', { allowance }));
  const owed = ((await store?.outbox.inState('owed')) ?? []).filter(
    ({ destination }) => config.destinations.get(destination)?.account === account,
  );
  return (Math.min(...limits) - used - owed.length) * 1000;
}

async function throttleables(
  jobs: readonly Scheduled[],
  { store, now, asked }: { store: Store | undefined; now: number; asked: (job: Job) => number },
): Promise<Throttleable[]> {
  const tallies = (await store?.runStats.all(maxRunsRead)) ?? new Map<string, JobRunStats>();
  const bundles = Map.groupBy(jobs, bundleOf);
  const began = startOfDay(now);
  return jobs.map((job) => {
    const tally = tallies.get(job.name);
    const bundle = bundleOf(job);
    const sharers = bundle === undefined ? 1 : bundles.get(bundle)!.length;
    return {
      job: job.name,
      priority: job.priority ?? 'normal',
      cost: sharers === 1 ? costOf(tally).expected : Math.ceil(1000 / sharers),
      firings: asked(job),
      ran: tally !== undefined && tally.lastAt >= began,
      mayThrottle: throttles(job),
    };
  });
}

/** With `run_all`, every firing must run, so none is skipped to save requests. */
function throttles({ destination, schedule }: Scheduled): boolean {
  return destination.whenShort === 'throttle' && schedule.misfire?.policy !== 'run_all';
}

/**
 * Counts each job's firings from `from` (inclusive) to `until` (exclusive). Ignores `spread`, which shifts firings too
 * little to matter.
 */
async function countFirings(
  jobs: readonly Scheduled[],
  { from, until }: { from: number; until: number },
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const alike = Map.groupBy(jobs, ({ schedule }) => scheduleKey({ ...schedule, offset: 0 }));
  for (const [i, group] of [...alike.values()].entries()) {
    // Computing calendars is slow, so yield to the event loop.
    if (i % atOnce === atOnce - 1) await breathe();
    let count = 0;
    for (const _ of firingsBetween({ ...group[0]!.schedule, offset: 0 }, from - 1, until - 1)) count++;
    for (const { name } of group) counts.set(name, count);
  }
  return counts;
}
