import type { Destination } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import type { Store } from '../state/store.ts';
import type { OutboxRow } from '../state/tables.ts';
import type { DeliveryEvents } from './events.ts';
import { Gateway } from './gateway.ts';
import type { DeliveryState } from './send-payload.ts';
import type { Priority } from './send-queue.ts';
import { afterGrace } from './stopping.ts';
import { UploadPool } from './upload-pool.ts';

export interface DeliverOptions {
  readonly store: Store;
  readonly destinations: Iterable<Destination>;
  /** The process's gateway, where it has one; else one is opened for this call. */
  readonly gateway?: Gateway;
  readonly clock: Clock;
  readonly emit: Emit<DeliveryEvents>;
  /** Stops: nothing more is started, requests under way get a few seconds. */
  readonly signal: AbortSignal;
  /** Only these payloads (ids of the outbox). */
  readonly only?: readonly number[];
  readonly priority: Priority;
  /** Retries that come due before this instant (epoch ms) are waited for. Absent: one pass. */
  readonly until?: number;
}

/** One payload and what became of it in this call. */
export type DeliveryResult = DeliveryState & {
  readonly id: number;
  readonly job: string;
  readonly run: string;
  readonly destination: string;
  readonly instance: string;
};

/**
 * Sends everything owed that may be sent now: outbox → quota → pacing → upload → retry → receipt. One result for each
 * payload, in the order in which they became owed; payloads of destinations that are not given are left alone.
 */
export async function deliverOwed(given: DeliverOptions): Promise<DeliveryResult[]> {
  const gateway = given.gateway ?? new Gateway(given);
  const { cut, dispose } = afterGrace(given.signal, given.clock);
  const { priority, signal, until: deadline } = given;
  const lanes = new UploadPool({ gateway, priority, signal, cut, deadline });
  try {
    const results = new Map<number, DeliveryResult>();
    let rows = wanted(await given.store.outbox.inState('owed'), given.only);
    while (rows.length > 0) {
      for (const result of await sendAll(lanes, rows)) results.set(result.id, result);
      rows = await dueAgain(given, results);
    }
    return [...results.values()].sort((a, b) => a.id - b.id);
  } finally {
    dispose();
    if (given.gateway === undefined) await gateway.close();
  }
}

/** Sends once more what is due for that (see `Repeats`), of the jobs that are ours; for who has no deliverer that would. */
export async function resendDue(
  given: Omit<DeliverOptions, 'only' | 'until'> & { readonly isOurs: (job: string) => boolean },
): Promise<void> {
  const { store, clock, isOurs, signal } = given;
  const due = (await store.resends.all()).filter(({ row, dueAt }) => isOurs(row.job) && dueAt <= clock.now());
  if (due.length === 0) return;
  const gateway = given.gateway ?? new Gateway(given);
  const { cut, dispose } = afterGrace(signal, clock);
  const lanes = new UploadPool({ gateway, priority: given.priority, signal, cut });
  try {
    await Promise.all(due.map((repeat) => lanes.resend(repeat)));
  } finally {
    dispose();
    if (given.gateway === undefined) await gateway.close();
  }
}

async function sendAll(lanes: UploadPool, rows: readonly OutboxRow[]): Promise<DeliveryResult[]> {
  const sending = rows.flatMap((row) => {
    const fate = lanes.send(row);
    return fate === undefined ? [] : [fate.then((it) => ({ ...it, ...namesOf(row) }))];
  });
  return Promise.all(sending);
}

/** Waits until the first of the retries that come due in time; the rows to send again then. */
async function dueAgain(given: DeliverOptions, results: ReadonlyMap<number, DeliveryResult>): Promise<OutboxRow[]> {
  const { clock, signal, store, until = 0 } = given;
  const waiting = [...results.values()].flatMap((it) => (it.state === 'waiting_retry' && it.at <= until ? [it] : []));
  if (waiting.length === 0 || signal.aborted) return [];
  const first = Math.min(...waiting.map(({ at }) => at));
  try {
    await clock.sleep(Math.max(1, first - clock.now()), signal);
  } catch {
    return [];
  }
  // By their instants and not by the clock: it may have jumped while we slept.
  const ids = waiting.filter(({ at }) => at <= Math.max(first, clock.now())).map(({ id }) => id);
  const rows = await Promise.all(ids.map((id) => store.outbox.find(id)));
  return rows.filter((row) => row !== undefined);
}

function wanted(rows: readonly OutboxRow[], only: readonly number[] | undefined): OutboxRow[] {
  return rows.filter(({ id }) => only === undefined || only.includes(id));
}

function namesOf({ id, job, run, destination, instance }: OutboxRow) {
  return { id, job, run, destination, instance };
}
