import type { Config, Job } from '../../config/config.ts';
import { addressGiven, declaredTarget, type TargetAddress } from '../../delivery/address.ts';
import type { Clock } from '../../lib/clock.ts';
import { nextFiring } from '../../schedule/schedule.ts';
import { usesTurn } from '../../state/runs/run-stats.ts';
import type { Store } from '../../state/store.ts';
import type { HoldRow, LoginHoldRow, OutboxRow, Receipt, RunRow, ThrottledJobRow } from '../../state/tables.ts';
import { readChecks, type SourceCheck } from '../checks/check-results.ts';
import { readLoginHolds } from '../login-holds/read-login-holds.ts';
import { nextResumedRun } from '../login-holds/resumed-schedule.ts';
import { readHeartbeat } from '../process/heartbeat.ts';
import { type NextAttempt, nextAttempt } from '../retry/next-attempt.ts';
import { nextThrottledRun } from '../throttle/next-throttled-run.ts';
import { type AccountStatus, reportAccounts } from './report-accounts.ts';

/** A daemon that has run for a shorter time may not have checked its schedules yet. */
const beginningMs = 60_000;

export type Silence = NonNullable<SourceCheck['trouble']> & { readonly at: number };

/** The parts of a config that an overview needs. */
export type OverviewConfig = Pick<Config, 'destinations' | 'folder' | 'jobs' | 'sealKeys' | 'sources'>;

/** The state of all jobs, read from the store at one time. All instants are in epoch milliseconds. */
export interface Overview {
  readonly now: number;
  /** The live daemon that uses this state, if there is one. */
  readonly daemon?: {
    readonly owner: string;
    readonly takenAt: number;
    /** The problem with the daemon's schedules. Set if the daemon is alive but doesn't fire any jobs. */
    readonly stopped?: string;
  };
  readonly accounts: readonly AccountStatus[];
  /** All owed, quarantined and dead payloads, oldest first. */
  readonly waiting: readonly OutboxRow[];
  lastRun(job: string): RunRow | undefined;
  runningSince(job: string): number | undefined;
  hold(job: string): HoldRow | undefined;
  /** Returns the next attempt of the job's last run. Set while that run is being retried. */
  nextAttempt(job: string): NextAttempt | undefined;
  /** Returns the job's owed, quarantined and dead payloads, oldest first. */
  waitingOf(job: string): readonly OutboxRow[];
  /** Undefined for a refresh, and for a declared data source that hasn't been created yet. */
  addressOf(job: Job): TargetAddress | undefined;
  /** Returns the as-of time of the last published data, or undefined if no data was published. */
  publishedAsOf(job: Job): number | undefined;
  /**
   * True if the instance may show newer data, because a later request got no response or because the state is an old
   * copy.
   */
  isInDoubt(job: Job): boolean;
  /** Set if the last check of the job's source failed and no run has read the source since then. */
  silence(job: Job): Silence | undefined;
  /** Set while the job is throttled. */
  throttle(job: string): ThrottledJobRow | undefined;
  /** Returns when the destination with this URL last accepted a payload, or undefined if it never has. */
  lastTakenAt(url: string): number | undefined;
  /** Holds on refused logins, by source name. */
  readonly loginHolds: ReadonlyMap<string, LoginHoldRow>;
  /**
   * Returns when the job's schedule fires next. This is the stored time or, if there's no daemon, the calculated time.
   */
  nextFiring(job: Job): number | undefined;
  /**
   * Returns when the job will run next: the time of its next firing that isn't blocked by a throttle or a refused
   * login.
   */
  nextRun(job: Job): number | undefined;
  /** Returns when the job's account will have requests again. Undefined while scheduled jobs still have requests. */
  quotaUntil(job: Job): number | undefined;
}

/**
 * Reads the store once for all jobs. The number of queries is small and doesn't depend on the number of jobs. Without a
 * store, no job has run yet.
 */
export async function readOverview(config: OverviewConfig, store: Store | undefined, clock: Clock): Promise<Overview> {
  const now = clock.now();
  const accounts = await reportAccounts(config, store, clock);
  if (store === undefined) return nothingYet(now, accounts);
  const { runs, retries, leases, holds, receipts, targets, throttledJobs, outbox } = store;
  const [lasts, held, holdRows, receiptRows, targetRows, throttleRows, waiting, checks, retryRows, firings] =
    await Promise.all([
      runs.lasts(),
      leases.held(),
      holds.all(),
      receipts.all(),
      targets.all(),
      throttledJobs.now(),
      outbox.inState('owed', 'quarantined', 'dead'),
      readChecks(store),
      retries.all(),
      readFirings(config, store, clock),
    ]);
  const known = {
    lasts: byName(lasts, ({ job }) => job),
    leases: byName(held, ({ name }) => name),
    holds: byName(holdRows, ({ job }) => job),
    retries: byName(retryRows, ({ job }) => job),
    taken: lastTaken(receiptRows),
    receipts: byName(receiptRows, (row) => keyOf(row.url, row.client_id, row.instance)),
    targets: byName(targetRows, (row) => keyOf(row.url, row.client_id, row.name)),
    throttles: byName(throttleRows, ({ job }) => job),
    waiting: Map.groupBy(waiting, ({ job }) => job),
  };
  const address = (job: Job): TargetAddress | undefined => addressIn(job, known.targets);
  const daemon = await daemonOf(known.leases.get('daemon'), { store, clock });
  return {
    now,
    daemon,
    accounts,
    waiting,
    lastRun: (job) => known.lasts.get(job),
    runningSince: (job) => known.leases.get(`job:${job}`)?.takenAt,
    hold: (job) => known.holds.get(job),
    nextAttempt: (job) => {
      const row = known.retries.get(job);
      const isRunning = known.leases.has(`job:${job}`);
      return row && nextAttempt(row, { now, isRunning, hasDaemon: daemon !== undefined });
    },
    waitingOf: (job) => known.waiting.get(job) ?? [],
    addressOf: address,
    isInDoubt: (job) => receiptOf(job, address(job), known.receipts)?.certain === 0,
    publishedAsOf: (job) => {
      const receipt = receiptOf(job, address(job), known.receipts);
      return receipt === undefined || receipt.at === 0 ? undefined : receipt.as_of;
    },
    silence: silencesIn(config, { checks, lasts }),
    lastTakenAt: (url) => known.taken.get(url),
    throttle: (job) => known.throttles.get(job),
    loginHolds: firings.loginHolds,
    nextFiring: firings.next,
    nextRun: (job) => {
      const at = firings.next(job);
      const hold = firings.loginHolds.get(job.extract?.source.name ?? '');
      if (job.schedule === undefined || at === undefined) return at;
      if (hold !== undefined) return nextResumedRun(job.schedule, hold, { nextAt: firings.waiting(job) ?? at, now });
      const throttle = known.throttles.get(job.name);
      if (throttle === undefined || at <= now) return at;
      const last = known.lasts.get(job.name);
      const lastAt = last !== undefined && usesTurn(last) ? last.started_at : undefined;
      return nextThrottledRun(job.schedule, throttle, { now, lastAt }) ?? undefined;
    },
    quotaUntil: (job) => quotaUntil(job, accounts),
  };
}

/** The next firings of all jobs, and the reasons why firings are blocked. */
async function readFirings(
  config: OverviewConfig,
  store: Store,
  clock: Clock,
): Promise<Pick<Overview, 'loginHolds'> & Record<'next' | 'waiting', (job: Job) => number | undefined>> {
  const [rows, deferred, loginHolds] = await Promise.all([
    store.schedules.all(),
    store.deferredFirings.earliest(),
    readLoginHolds(config, store, clock),
  ]);
  const nexts = new Map(rows.map(({ job, next_at }) => [job, next_at]));
  return {
    loginHolds,
    next: (job) => (job.enabled ? (nexts.get(job.name) ?? firstFiring(job, clock.now())) : undefined),
    waiting: ({ name }) => deferred.get(name),
  };
}

/** If a run has read the source since the failed check, the check's result no longer counts. */
function silencesIn(
  { jobs }: OverviewConfig,
  { checks, lasts }: { checks: ReadonlyMap<string, SourceCheck>; lasts: readonly RunRow[] },
): Overview['silence'] {
  const readAt = new Map<string, number>();
  for (const { job, started_at } of lasts) {
    const name = jobs.get(job)?.extract?.source.name;
    if (name !== undefined) readAt.set(name, Math.max(started_at, readAt.get(name) ?? 0));
  }
  return ({ extract }) => {
    const name = extract?.source.name ?? '';
    const check = checks.get(name);
    if (check?.trouble === undefined || check.at <= (readAt.get(name) ?? 0)) return undefined;
    return { ...check.trouble, at: check.at };
  };
}

async function daemonOf(
  lease: { readonly owner: string; readonly takenAt: number } | undefined,
  { store, clock }: { store: Store; clock: Clock },
): Promise<Overview['daemon']> {
  if (lease === undefined) return undefined;
  const { owner, takenAt } = lease;
  const isBeginning = clock.now() - takenAt < beginningMs;
  const { ticking, message } = await readHeartbeat(store, { owner, clock });
  return { owner, takenAt, ...(ticking || isBeginning ? {} : { stopped: message }) };
}

function nothingYet(now: number, accounts: readonly AccountStatus[]): Overview {
  const none = (): undefined => undefined;
  return {
    now,
    accounts,
    waiting: [],
    lastRun: none,
    runningSince: none,
    hold: none,
    nextAttempt: none,
    waitingOf: () => [],
    addressOf: (job) => addressIn(job, new Map()),
    publishedAsOf: none,
    isInDoubt: () => false,
    silence: none,
    lastTakenAt: none,
    throttle: none,
    loginHolds: new Map(),
    nextFiring: (job) => firstFiring(job, now),
    nextRun: (job) => firstFiring(job, now),
    quotaUntil: none,
  };
}

function lastTaken(receipts: readonly Receipt[]): Map<string, number> {
  const taken = new Map<string, number>();
  for (const { url, at } of receipts) if (at > 0) taken.set(url, Math.max(at, taken.get(url) ?? 0));
  return taken;
}

function quotaUntil({ destination }: Job, accounts: readonly AccountStatus[]): number | undefined {
  const account = accounts.find(({ destinations }) => destinations.includes(destination.name));
  if (account === undefined) return undefined;
  if (account.spent_until !== undefined) return account.spent_until;
  const left = destination.requestsPerDay - destination.reserveRequests - account.used;
  return left > 0 ? undefined : account.turns_at;
}

function firstFiring({ schedule, enabled }: Job, now: number): number | undefined {
  return schedule && enabled ? (nextFiring(schedule, now) ?? undefined) : undefined;
}

function addressIn(job: Job, targets: ReadonlyMap<string, { readonly instance: string }>): TargetAddress | undefined {
  const declared = declaredTarget(job);
  return addressGiven(job, declared && targets.get(keyOf(declared.url, declared.clientId ?? '', declared.name)));
}

function receiptOf(
  { destination }: Job,
  address: TargetAddress | undefined,
  receipts: ReadonlyMap<string, Receipt>,
): Receipt | undefined {
  if (address === undefined) return undefined;
  return receipts.get(keyOf(destination.url, address.clientId ?? '', address.instance));
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

function byName<T>(rows: readonly T[], nameOf: (row: T) => string): Map<string, T> {
  return new Map(rows.map((row) => [nameOf(row), row]));
}
