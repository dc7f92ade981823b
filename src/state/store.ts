import { join, resolve } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Problem } from '../lib/problem.ts';
import { AlertRecords } from './alerts.ts';
import type { BlobBackend } from './blobs/blob-storage.ts';
import { StateBlobs } from './blobs/blobs.ts';
import { checkStorage } from './blobs/watched-storage.ts';
import { Backfills } from './checkpoints/backfills.ts';
import { Generations } from './checkpoints/generations.ts';
import { Watermarks } from './checkpoints/watermarks.ts';
import {
  type CopySpace,
  inTransaction,
  inTransactionOn,
  type PayloadRetention,
  type StoreContext,
} from './engine/context.ts';
import { useDatabase, useServer } from './engine/database.ts';
import type { Engine, PlannerLock } from './engine/engine.ts';
import { checkVersion, migrate } from './engine/migrate.ts';
import { PendingWrites } from './engine/pending-writes.ts';
import type { StateDatabase } from './engine/state-database.ts';
import { isUnwritable } from './engine/state-problem.ts';
import { FailoverGuard } from './failover-guard.ts';
import { LoginHolds } from './login-holds.ts';
import { LoginRecords } from './logins.ts';
import { GoodPayloads } from './outbox/good-payloads.ts';
import { Outbox } from './outbox/outbox.ts';
import { PayloadFiles } from './outbox/payload-files.ts';
import { Quarantine } from './outbox/quarantine.ts';
import { Receipts } from './outbox/receipts.ts';
import { Resends } from './outbox/resends.ts';
import { Targets } from './outbox/targets.ts';
import { prepareFolder } from './prepare-folder.ts';
import { ProcessHeartbeats } from './processes/heartbeats.ts';
import { keepBeating } from './processes/keep-beating.ts';
import { Leases } from './processes/leases.ts';
import { ProcessSettings } from './processes/process-settings.ts';
import { localHeartbeats, type Processes } from './processes/processes.ts';
import { AccountHistory } from './quota/account-history.ts';
import { Accounts } from './quota/accounts.ts';
import { Quota } from './quota/quota.ts';
import { SendSlots } from './quota/send-slots.ts';
import { ThrottledJobs } from './quota/throttled-jobs.ts';
import { UsageChecks } from './quota/usage-checks.ts';
import { AttemptFiles } from './runs/attempt-files.ts';
import { Audit } from './runs/audit.ts';
import { DeferredFirings } from './runs/deferred-firings.ts';
import { FleetRuns } from './runs/fleet-runs.ts';
import { Holds } from './runs/holds.ts';
import { Retries } from './runs/retries.ts';
import { RunStats } from './runs/run-stats.ts';
import { Runs } from './runs/runs.ts';
import { Schedules } from './runs/schedules.ts';
import { Skips } from './runs/skips.ts';
import { Settings } from './settings.ts';
import { StateTrust } from './state-trust.ts';

/** The repositories for all data that survives the process, with one repository per noun. */
const repositories = {
  accounts: Accounts,
  alerts: AlertRecords,
  attemptFiles: AttemptFiles,
  audit: Audit,
  backfills: Backfills,
  blobs: StateBlobs,
  deferredFirings: DeferredFirings,
  fleetRuns: FleetRuns,
  goodPayloads: GoodPayloads,
  holds: Holds,
  leases: Leases,
  loginHolds: LoginHolds,
  logins: LoginRecords,
  outbox: Outbox,
  heartbeats: ProcessHeartbeats,
  payloads: PayloadFiles,
  processSettings: ProcessSettings,
  quarantine: Quarantine,
  accountHistory: AccountHistory,
  quota: Quota,
  receipts: Receipts,
  resends: Resends,
  retries: Retries,
  runs: Runs,
  schedules: Schedules,
  sendSlots: SendSlots,
  generations: Generations,
  settings: Settings,
  skips: Skips,
  throttledJobs: ThrottledJobs,
  runStats: RunStats,
  targets: Targets,
  trust: StateTrust,
  usageChecks: UsageChecks,
  watermarks: Watermarks,
} as const;

/** Computed only once, because every transaction creates its own repositories. */
const classes = Object.entries(repositories);

export type Repositories = { readonly [K in keyof typeof repositories]: InstanceType<(typeof repositories)[K]> };

export interface Store extends Repositories {
  /** Absolute path of the state folder. */
  readonly folder: string;
  /** Where the state is, for users: the folder, or the database's URL without credentials. */
  readonly label: string;
  /** The clock that the repositories use. */
  readonly clock: Clock;
  readonly processes: Processes;
  /** If false, the state is lost when the process ends. */
  readonly durable: boolean;
  /** Whether the database is on a server, so that processes on several machines can use it. */
  readonly isOnServer: boolean;
  /** Asks `claim` for space before each copy of a blob. `claim` rejects if there isn't enough. */
  limitCopies(claim: (bytes: number) => Promise<void>): void;
  /** From now on, keeps the newest payloads of exactly these jobs, because other jobs read their rows. */
  keepRowsOf(jobs: Iterable<string>): void;
  /** Runs `work` in a transaction. `work` must use only the repositories that are passed to it. */
  transaction<T>(work: (parts: Repositories) => Promise<T>): Promise<T>;
  /** Like {@link transaction}, but locks only `keys` (see {@link inTransactionOn}). */
  transactionOn<T>(keys: readonly string[], work: (parts: Repositories) => Promise<T>): Promise<T>;
  /**
   * Runs a transaction now. If the disk rejects writes, runs the transaction as soon as the disk accepts them. `id`
   * identifies what the transaction settles. Throws only errors that the disk didn't cause. The transaction must be
   * idempotent. It locks `keys`, or the whole state if they're absent.
   */
  settle(id: string, work: (parts: Repositories) => Promise<unknown>, keys?: readonly string[]): Promise<void>;
  /**
   * Returns the error of the last write, such as because the disk is full, failing or read-only. Returns undefined if
   * the last write succeeded.
   */
  unwritable(): Problem | undefined;
  /**
   * Makes a small write, to find out whether the disk accepts writes. Use it if this process hasn't written anything
   * yet.
   */
  probe(): Promise<Problem | undefined>;
  /** Returns the lock for the process that plans. Absent if only one process can be the daemon. */
  readonly plannerLock?: (() => PlannerLock) | undefined;
  /** Throws `STATE_NEWER` if a newer version of Sluice has changed the schema. */
  checkSchema(): Promise<void>;
  close(): Promise<void>;
}

/** How a state folder is opened. */
export interface StoreOptions {
  /** By default, the clock of the machine that has the database. */
  readonly clock?: Clock;
  /** The database that contains the state. By default, a file in the state folder. */
  readonly database?: StateDatabase;
  /** Which delivered payloads stay on disk. By default, none do. */
  readonly keep?: PayloadRetention;
  /**
   * If false, the database is in memory and is lost when this process ends. Use this for a state that only this process
   * needs.
   */
  readonly durable?: boolean;
  /** Aborted when this process must end. A database on a server that hangs then doesn't delay the end. */
  readonly stop?: AbortSignal | undefined;
  /** The identity of this process and the state of other processes. Only tests set this, to simulate dead processes. */
  readonly processes?: Processes;
}

/**
 * How long a process that must end waits for the database's server, in milliseconds. Requests in progress get 3 s to
 * finish, and the process is killed after 9 s.
 */
const stopPatienceMs = 6_500;
/** How long the end of a store waits for the database's server, in milliseconds. */
const closePatienceMs = 2_000;

/**
 * Opens the state in `folder`. Creates the state if it doesn't exist, and migrates it if it's old. Several processes
 * can have it open at the same time. Only its owner can read it.
 */
export async function openStore(folder: string, options: StoreOptions): Promise<Store> {
  const at = resolve(folder);
  const engine = await openEngine(at, options);
  const { clock = engine.clock, keep, processes = engine.processes } = options;
  const { db, lock, unlockedDb, health } = engine;
  const blobs = await openBlobs(engine, options.database);
  const hurry = () => {
    engine.disconnectIn?.(stopPatienceMs);
    if (blobs?.storage.close !== undefined) setTimeout(() => void blobs.storage.close?.(), stopPatienceMs).unref();
  };
  if (options.stop?.aborted) hurry();
  else options.stop?.addEventListener('abort', hurry, { once: true });
  const pending = new PendingWrites(clock);
  const copies: CopySpace = {};
  const readJobs = new Set<string>();
  const files = { folder: at, blobs, copies, keep, readJobs };
  const unguarded: StoreContext = { db, lock, unlockedDb, clock, processes, pending, ...files };
  const failovers = engine.server && new FailoverGuard(unguarded, engine.server);
  const context: StoreContext = { ...unguarded, failovers };
  try {
    await migrate(engine, { clock, folder: at });
    await failovers?.check();
  } catch (error) {
    options.stop?.removeEventListener('abort', hurry);
    await blobs?.storage.close?.();
    await engine.close();
    throw error;
  }
  const parts = repositoriesOf(context);
  const transaction: Store['transaction'] = (work) => inTransaction(context, (inside) => work(repositoriesOf(inside)));
  const transactionOn: Store['transactionOn'] = (keys, work) =>
    inTransactionOn(context, keys, (inside) => work(repositoriesOf(inside)));
  const stopBeating = keepBeating(parts.heartbeats, processes.heartbeats ?? localHeartbeats, blobs);
  return {
    ...parts,
    folder: at,
    label: engine.label,
    clock,
    processes,
    durable: options.durable ?? true,
    isOnServer: unlockedDb !== undefined,
    limitCopies: (claim) => {
      copies.claim = claim;
    },
    keepRowsOf: (jobs) => {
      readJobs.clear();
      for (const job of jobs) readJobs.add(job);
    },
    transaction,
    transactionOn,
    settle: (id, work, keys) => pending.settle(id, () => (keys ? transactionOn(keys, work) : transaction(work))),
    unwritable: () => health.problem ?? blobs?.health.problem,
    plannerLock: engine.plannerLock,
    checkSchema: () => checkVersion(engine),
    async probe() {
      try {
        // Pending writes come first: if the state is reported as writable, nothing in it is outdated.
        await pending.flush();
        await parts.settings.set('probe', String(Math.round(clock.now())));
      } catch (error) {
        if (!isUnwritable(error)) throw error;
      }
      if (blobs !== undefined && health.problem === undefined) await checkStorage(blobs);
      return health.problem ?? blobs?.health.problem;
    },
    async close() {
      stopBeating();
      options.stop?.removeEventListener('abort', hurry);
      engine.disconnectIn?.(closePatienceMs);
      await pending.close();
      await blobs?.storage.close?.();
      await engine.close();
    },
  };
}

function repositoriesOf(context: StoreContext): Repositories {
  const parts: Record<string, object> = {};
  for (const [name, Part] of classes) parts[name] = new Part(context);
  return parts as unknown as Repositories;
}

/**
 * Opens the database of the state in `folder`. A state that only this process needs is always in memory, whatever
 * database is set.
 */
async function openEngine(folder: string, { database, durable = true }: StoreOptions): Promise<Engine> {
  const file = join(folder, 'sluice.db');
  const isOnServer = database !== undefined && durable;
  prepareFolder(folder, isOnServer ? undefined : file);
  return isOnServer ? useServer(database, folder) : useDatabase(file, { durable, mustExist: true });
}

/** Opens the storage of blobs. Its code isn't loaded for a state in a folder, which has none. */
async function openBlobs({ blobDb: db }: Engine, database?: StateDatabase): Promise<BlobBackend | undefined> {
  if (db === undefined || database === undefined) return undefined;
  const { openBackend } = await import('./blobs/open-storage.ts');
  return openBackend(db, database);
}
