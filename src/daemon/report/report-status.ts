import type { AlertChannel } from '../../config/alerts.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { instantText } from '../../lib/time-text.ts';
import { loginCommand } from '../../oauth/login-problems.ts';
import { needsPerson, reportLogins } from '../../oauth/report.ts';
import { unwritableText } from '../../state/engine/state-problem.ts';
import { processText } from '../../state/processes/processes.ts';
import type { Store } from '../../state/store.ts';
import type { OutboxRow } from '../../state/tables.ts';
import type { Condition } from '../conditions/condition.ts';
import { ConditionCache, readConditions } from '../conditions/read-conditions.ts';
import { type ActiveRecord, readRecord } from '../config/config-record.ts';
import { endlessJobs, type JobStatus, jobStatus } from './job-status.ts';
import { type Overview, readOverview } from './overview.ts';
import type { AccountStatus } from './report-accounts.ts';
import type { DiskStatus } from './report-disk.ts';
import { type ProcessStatus, type QueueStatus, reportProcesses, reportQueue } from './report-processes.ts';

/**
 * Payloads owed by jobs that aren't in the config. `deliverable` is true if the payloads' destination is still in the
 * config.
 */
export interface StrandedStatus {
  readonly job: string;
  readonly destination: string;
  readonly deliverable: boolean;
  readonly payloads: number;
}

/** A login that a user must renew, with the command that renews it. */
export interface NeedyLogin {
  readonly login: string;
  readonly sources: readonly string[];
  readonly message?: string;
  readonly next: string;
}

/** An alert channel whose last attempt to send a message failed. */
interface FailingChannel {
  readonly channel: string;
  readonly type: AlertChannel['type'];
  readonly problem: string;
  /** Number of messages that are waiting to be sent to the channel. Failed heartbeats don't count. */
  readonly waiting: number;
}

export interface Status {
  /** All current conditions, errors first. May be empty. Every user interface shows these conditions. */
  readonly conditions: readonly Condition[];
  /** The running daemon. `stopped` describes the problem with its schedules if no jobs fire. */
  readonly daemon?: {
    readonly owner: string;
    readonly since: number;
    readonly stopped?: string;
    /** The daemon's active config, if this status describes that config. */
    readonly config?: ActiveRecord;
  };
  /** The processes that share the state. Absent if the state is in a folder. */
  readonly processes?: readonly ProcessStatus[];
  /** The runs that are queued for the processes. Absent if the state is in a folder. */
  readonly queue?: QueueStatus;
  readonly jobs: readonly JobStatus[];
  /** Names of jobs that were excluded because of config errors. `jobs` doesn't contain them. */
  readonly left_out: readonly string[];
  readonly stranded: readonly StrandedStatus[];
  readonly accounts: readonly AccountStatus[];
  readonly logins: readonly NeedyLogin[];
  /** How full the state folder is. */
  readonly disk?: DiskStatus;
  /** The reason why the state isn't writable, and how to fix it. Absent if the state is writable. */
  readonly unwritable?: { readonly code: string; readonly message: string };
  /** Open alerts and failing channels. Absent if the config has no alert settings. */
  readonly alerts?: {
    readonly open: number;
    readonly failing: readonly FailingChannel[];
  };
}

/**
 * Reads the status of all jobs from the store, if there is one, and checks whether the state is writable. Read-only.
 * Callers that have already read the overview pass it as `known`.
 */
export async function reportStatus(
  config: Config,
  store: Store | undefined,
  clock: Clock,
  known: { readonly overview?: Overview; readonly cache?: ConditionCache } = {},
): Promise<Status> {
  const overview = known.overview ?? (await readOverview(config, store, clock));
  const cache = known.cache ?? new ConditionCache();
  const conditions = await readConditions(config, store, { clock, overview, cache });
  const { daemon, accounts, waiting } = overview;
  const given = { overview, endless: await endlessJobs(store) };
  const jobs = [...config.jobs.values()].map((job) => jobStatus(job, given));
  const owed = waiting.filter(({ state }) => state === 'owed');
  const logins = await needyLogins(config, store, clock);
  const disk = store === undefined ? undefined : await cache.disk.look(config, { store, clock });
  return {
    conditions,
    ...(await daemonStatus(config, store, daemon)),
    jobs,
    left_out: leftOutOf(conditions, config),
    stranded: strandedIn(owed, config),
    accounts,
    logins,
    disk,
    ...(await writability(store)),
    ...(await alertStatus(config, store)),
  };
}

function leftOutOf(conditions: readonly Condition[], { jobs }: Config): string[] {
  return conditions
    .filter(({ kind }) => kind === 'left_out')
    .flatMap((one) => one.jobs.filter((job) => !jobs.has(job)));
}

/**
 * Returns the status of the daemon, if one is running, and of the processes that share its state. Includes the daemon's
 * active config if that is from the same `file`.
 */
export async function daemonStatus(
  { file }: Pick<Config, 'file'>,
  store: Store | undefined,
  daemon: Overview['daemon'],
): Promise<Pick<Status, 'daemon' | 'processes' | 'queue'>> {
  if (store === undefined) return {};
  const all = await reportProcesses(store, daemon?.owner);
  const processes = all.length === 0 ? {} : { processes: all, queue: await reportQueue(store) };
  if (daemon === undefined) return processes;
  const { owner, takenAt: since, stopped } = daemon;
  const found = await readRecord(store, owner);
  const config = found?.file === file ? found : undefined;
  return { daemon: { owner: processText(owner), since, stopped, config }, ...processes };
}

/** Checks whether the state is writable. */
export async function writability(store: Store | undefined): Promise<Pick<Status, 'unwritable'>> {
  const problem = await store?.probe();
  return problem === undefined ? {} : { unwritable: { code: problem.code, message: unwritableText(problem) } };
}

async function alertStatus({ alerts }: Config, store: Store | undefined): Promise<Pick<Status, 'alerts'>> {
  if (alerts === undefined) return {};
  const open = ((await store?.alerts.all()) ?? []).filter(({ cleared_at }) => cleared_at === null).length;
  const records = (await store?.alerts.channels()) ?? [];
  const failing = records.flatMap(({ channel, problem, waiting }) => {
    const type = alerts.channels.get(channel)?.type;
    return problem === undefined || type === undefined ? [] : [{ channel, type, problem, waiting }];
  });
  return { alerts: { open, failing } };
}

async function needyLogins({ sources }: Config, store: Store | undefined, clock: Clock): Promise<NeedyLogin[]> {
  const reports = await reportLogins(sources.values(), store, clock.now());
  return reports.filter(needsPerson).map(({ login, sources, state, expires_at, message }) => {
    const next = loginCommand(sources[0] ?? login);
    const ends = state === 'ends soon' ? `the token expires at ${instantText(expires_at!)}` : undefined;
    const why = message ?? ends;
    return { login, sources, next, message: why };
  });
}

function strandedIn(owed: readonly OutboxRow[], { jobs, destinations }: Config): StrandedStatus[] {
  const orphans = owed.filter(({ job, destination }) => !jobs.has(job) || !destinations.has(destination));
  return [...Map.groupBy(orphans, ({ job, destination }) => JSON.stringify([job, destination])).values()].map(
    (rows) => {
      const { job, destination } = rows[0] as OutboxRow;
      return { job, destination, deliverable: destinations.has(destination), payloads: rows.length };
    },
  );
}
