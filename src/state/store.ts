import { closeSync, constants, fchmodSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { ensurePrivateFile } from '../lib/private-file.ts';
import { Problem } from '../lib/problem.ts';
import { Accounts } from './accounts.ts';
import { Alerts } from './alerts.ts';
import { Audit } from './audit.ts';
import { Backfills } from './backfills.ts';
import { DataSets } from './data-sets.ts';
import { useDatabase } from './database.ts';
import { folderAdvice } from './folder-advice.ts';
import { GoodPayloads } from './good-payloads.ts';
import { Holds } from './holds.ts';
import { Leases } from './leases.ts';
import { refuseLinksIn } from './links.ts';
import { LoginHolds } from './login-holds.ts';
import { Logins } from './logins.ts';
import { migrate } from './migrate.ts';
import { Outbox } from './outbox.ts';
import { Owners } from './owners.ts';
import { atomically, type Ground, type Keep } from './part.ts';
import { PayloadFiles } from './payload-files.ts';
import { PendingWrites } from './pending-writes.ts';
import { type Processes, systemProcesses } from './processes.ts';
import { Purses } from './purses.ts';
import { Quarantine } from './quarantine.ts';
import { Quota } from './quota.ts';
import { Receipts } from './receipts.ts';
import { Repeats } from './repeats.ts';
import { Retries } from './retries.ts';
import { Runs } from './runs.ts';
import { Schedules } from './schedules.ts';
import { Sends } from './sends.ts';
import { Settings } from './settings.ts';
import { Skips } from './skips.ts';
import { isUnwritable, stateFileProblem } from './state-problem.ts';
import { Stretches } from './stretches.ts';
import { Tallies } from './tallies.ts';
import { Targets } from './targets.ts';
import { UsageChecks } from './usage-checks.ts';
import { Watermarks } from './watermarks.ts';

/** Everything that outlives the process, one noun a part. */
export interface Parts {
  readonly accounts: Accounts;
  readonly alerts: Alerts;
  readonly audit: Audit;
  readonly backfills: Backfills;
  readonly good: GoodPayloads;
  readonly holds: Holds;
  readonly leases: Leases;
  readonly loginHolds: LoginHolds;
  readonly logins: Logins;
  readonly outbox: Outbox;
  readonly owners: Owners;
  readonly payloads: PayloadFiles;
  readonly quarantine: Quarantine;
  readonly purses: Purses;
  readonly quota: Quota;
  readonly receipts: Receipts;
  readonly repeats: Repeats;
  readonly retries: Retries;
  readonly runs: Runs;
  readonly schedules: Schedules;
  readonly sends: Sends;
  readonly sets: DataSets;
  readonly settings: Settings;
  readonly skips: Skips;
  readonly stretches: Stretches;
  readonly tallies: Tallies;
  readonly targets: Targets;
  readonly usageChecks: UsageChecks;
  readonly watermarks: Watermarks;
}

export interface Store extends Parts {
  /** Absolute path of the state folder. */
  readonly folder: string;
  readonly processes: Processes;
  /** False: nothing in it need outlive this process. */
  readonly durable: boolean;
  /** All of `work` happens, or none of it. Inside, use the parts handed in and no others. */
  transaction<T>(work: (parts: Parts) => Promise<T>): Promise<T>;
  /**
   * A transaction that is made now or, where the disk takes no writes, as soon as it does. `id` names what it settles.
   * Rejects only with what is not the fault of the disk; must be harmless when it is made twice.
   */
  settle(id: string, work: (parts: Parts) => Promise<unknown>): Promise<void>;
  /** Why the last write failed, where the disk is full, fails or is read-only; undefined while writes succeed. */
  unwritable(): Problem | undefined;
  /** Writes a little to find out; for a process that has written nothing yet. */
  probe(): Promise<Problem | undefined>;
  close(): Promise<void>;
}

/** How a state folder is opened. */
export interface StoreOptions {
  readonly clock: Clock;
  /** How many delivered payloads stay on the disk; none where nothing is said. */
  readonly keep?: Keep;
  /** False: the database is in memory and ends with this process; for a state that nobody else looks at or needs afterwards. */
  readonly durable?: boolean;
  /** For tests: who this process is, and who has died. */
  readonly processes?: Processes;
}

/** Heartbeats are for those who cannot look into our process table; they stop when the store closes. */
const beatMs = 10_000;

/**
 * Opens (and makes, and migrates) the state in `folder`. Several processes may have it open at once. Readable by its
 * owner alone.
 */
export async function openStore(folder: string, options: StoreOptions): Promise<Store> {
  const at = resolve(folder);
  const { db, health, close } = useDatabase(prepareFile(at), { ...options, mustExist: true });
  const { clock, keep, processes = systemProcesses() } = options;
  const pending = new PendingWrites(clock);
  const ground: Ground = { db, clock, processes, pending, folder: at, keep };
  try {
    await migrate(db, { now: Math.round(options.clock.now()), folder: at });
  } catch (error) {
    await close();
    throw error;
  }
  const parts = partsOf(ground);
  const stopBeating = keepBeating(parts.owners);
  return {
    ...parts,
    folder: at,
    processes: ground.processes,
    durable: options.durable ?? true,
    transaction: (work) => atomically(ground, (inside) => work(partsOf(inside))),
    settle: (id, work) => pending.settle(id, () => atomically(ground, (inside) => work(partsOf(inside)))),
    unwritable: () => health.problem,
    async probe() {
      await parts.settings.set('probe', String(Math.round(clock.now()))).catch(otherThanDisk);
      return health.problem;
    },
    async close() {
      stopBeating();
      await pending.close();
      await close();
    },
  };
}

function partsOf(ground: Ground): Parts {
  return {
    accounts: new Accounts(ground),
    alerts: new Alerts(ground),
    audit: new Audit(ground),
    backfills: new Backfills(ground),
    good: new GoodPayloads(ground),
    holds: new Holds(ground),
    leases: new Leases(ground),
    loginHolds: new LoginHolds(ground),
    logins: new Logins(ground),
    outbox: new Outbox(ground),
    owners: new Owners(ground),
    payloads: new PayloadFiles(ground),
    quarantine: new Quarantine(ground),
    purses: new Purses(ground),
    quota: new Quota(ground),
    receipts: new Receipts(ground),
    repeats: new Repeats(ground),
    retries: new Retries(ground),
    runs: new Runs(ground),
    schedules: new Schedules(ground),
    sends: new Sends(ground),
    sets: new DataSets(ground),
    settings: new Settings(ground),
    skips: new Skips(ground),
    stretches: new Stretches(ground),
    tallies: new Tallies(ground),
    targets: new Targets(ground),
    usageChecks: new UsageChecks(ground),
    watermarks: new Watermarks(ground),
  };
}

function prepareFile(folder: string): string {
  const file = join(folder, 'sluice.db');
  try {
    makeFolder(join(folder, 'payloads'), 0o700, { lasting: true });
    refuseLinksIn(folder);
    restrict(folder);
    ensurePrivateFile(file);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const ofDisk = stateFileProblem(error, file);
    if (ofDisk !== undefined) throw ofDisk;
    throw new Problem({
      code: 'STATE_UNUSABLE',
      family: 'config',
      message: `The state folder cannot be used: ${(error as Error).message}`,
      seen: folder,
      allowed: 'a folder that this user owns and can write',
      next: folderAdvice(folder, (error as NodeJS.ErrnoException).code, process.getuid?.()),
      cause: error,
    });
  }
  return file;
}

/** Takes the rights of others to a folder away. */
function restrict(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fchmodSync(descriptor, 0o700);
  } finally {
    closeSync(descriptor);
  }
}

function otherThanDisk(error: unknown): void {
  if (!isUnwritable(error)) throw error;
}

function keepBeating(owners: Owners): () => void {
  const timer = setInterval(() => void owners.beat().catch(() => undefined), beatMs);
  timer.unref();
  return () => clearInterval(timer);
}
