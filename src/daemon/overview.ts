import type { Job } from '../config/config.ts';
import { type Address, addressOf } from '../delivery/commit-payload.ts';
import type { Clock } from '../lib/clock.ts';
import { nextFiring } from '../schedule/schedule.ts';
import type { Store } from '../state/store.ts';
import type { HoldRow, OutboxRow, Receipt, RunRow } from '../state/tables.ts';

/** Where all jobs stand, as read from the store at one moment. Instants are epoch milliseconds. */
export interface Overview {
  readonly now: number;
  /** The daemon of this state, where one is alive. */
  readonly daemon?: { readonly owner: string; readonly takenAt: number };
  /** All that is owed, held back or dead, the oldest first. */
  readonly waiting: readonly OutboxRow[];
  lastRun(job: string): RunRow | undefined;
  runningSince(job: string): number | undefined;
  hold(job: string): HoldRow | undefined;
  /** What of the job is owed, held back or dead, the oldest first. */
  waitingOf(job: string): readonly OutboxRow[];
  /** Undefined for a refresh, and for a declared data source that has not been created yet. */
  addressOf(job: Job): Address | undefined;
  /** How old the data is that the job's instance was last known to show; undefined when nobody can say. */
  shownAsOf(job: Job): number | undefined;
  /** How old the data is that was published last, also where a later attempt has left in doubt what the instance shows. */
  publishedAsOf(job: Job): number | undefined;
  /** When it fires next, as written down or, where no daemon has, by its schedule. */
  nextAt(job: Job): number | undefined;
}

/** Reads the store once for all jobs: a handful of queries, however many jobs there are. Without a store nothing ever ran. */
export async function readOverview(store: Store | undefined, clock: Clock): Promise<Overview> {
  const now = clock.now();
  if (store === undefined) return nothingYet(now);
  const { runs, leases, holds, receipts, targets, schedules, outbox } = store;
  const [lasts, held, holdRows, receiptRows, targetRows, scheduleRows, waiting] = await Promise.all([
    runs.lasts(),
    leases.held(),
    holds.all(),
    receipts.all(),
    targets.all(),
    schedules.all(),
    outbox.inState('owed', 'quarantined', 'dead'),
  ]);
  const known = {
    lasts: byName(lasts, ({ job }) => job),
    leases: byName(held, ({ name }) => name),
    holds: byName(holdRows, ({ job }) => job),
    receipts: byName(receiptRows, (row) => keyOf(row.url, row.client_id, row.instance)),
    targets: byName(targetRows, (row) => keyOf(row.url, row.client_id, row.name)),
    nexts: new Map(scheduleRows.map(({ job, next_at }) => [job, next_at])),
    waiting: Map.groupBy(waiting, ({ job }) => job),
  };
  const address = (job: Job): Address | undefined => addressIn(job, known.targets);
  const daemon = known.leases.get('daemon');
  return {
    now,
    ...(daemon === undefined ? {} : { daemon }),
    waiting,
    lastRun: (job) => known.lasts.get(job),
    runningSince: (job) => known.leases.get(`job:${job}`)?.takenAt,
    hold: (job) => known.holds.get(job),
    waitingOf: (job) => known.waiting.get(job) ?? [],
    addressOf: address,
    shownAsOf: (job) => {
      const receipt = receiptOf(job, address(job), known.receipts);
      return receipt?.certain === 1 ? receipt.as_of : undefined;
    },
    publishedAsOf: (job) => {
      const receipt = receiptOf(job, address(job), known.receipts);
      return receipt === undefined || receipt.at === 0 ? undefined : receipt.as_of;
    },
    nextAt: (job) => (job.enabled ? (known.nexts.get(job.name) ?? firstFiring(job, now)) : undefined),
  };
}

function nothingYet(now: number): Overview {
  const none = (): undefined => undefined;
  return {
    now,
    waiting: [],
    lastRun: none,
    runningSince: none,
    hold: none,
    waitingOf: () => [],
    addressOf: (job) => addressIn(job, new Map()),
    shownAsOf: none,
    publishedAsOf: none,
    nextAt: (job) => firstFiring(job, now),
  };
}

/** How old the data is that the job's instance was last known to show; undefined when nobody can say. */
export async function lastPublished(job: Job, store: Store): Promise<number | undefined> {
  if (job.extract === undefined) return undefined;
  const address = await addressOf(store, job).catch(() => undefined);
  const receipt = address && (await store.receipts.find({ url: job.destination.url, ...address }));
  return receipt?.certain === 1 ? receipt.as_of : undefined;
}

function firstFiring({ schedule, enabled }: Job, now: number): number | undefined {
  return schedule && enabled ? (nextFiring(schedule, now) ?? undefined) : undefined;
}

function addressIn(job: Job, targets: ReadonlyMap<string, { readonly instance: string }>): Address | undefined {
  const { target, destination } = job;
  if (target.kind === 'refresh') return undefined;
  const clientId = target.clientId ?? destination.clientId;
  const client = clientId === undefined ? {} : { clientId };
  if (target.kind === 'instance') return { instance: target.instance, ...client };
  const known = targets.get(keyOf(destination.url, clientId ?? '', target.declaration.name));
  return known === undefined ? undefined : { instance: known.instance, ...client };
}

function receiptOf(
  { destination }: Job,
  address: Address | undefined,
  receipts: ReadonlyMap<string, Receipt>,
): Receipt | undefined {
  if (address === undefined) return undefined;
  return receipts.get(keyOf(destination.url, address.clientId ?? '', address.instance));
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

function byName<T>(rows: readonly T[], nameOf: (row: T) => string): Map<string, T> {
  return new Map(rows.map((row) => [nameOf(row), row]));
}
