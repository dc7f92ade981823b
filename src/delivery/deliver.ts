import type { OutboxRow } from '../state/tables.ts';
import type { Gateway } from './gateway.ts';
import type { DeliveryState } from './send-payload.ts';
import type { Priority } from './send-queue.ts';
import { afterGrace } from './stopping.ts';
import { UploadPool } from './upload-pool.ts';

export interface DeliverOptions {
  readonly gateway: Gateway;
  /** Stops delivery: no new requests start, and requests in progress get a few seconds to finish. */
  readonly signal: AbortSignal;
  readonly priority: Priority;
  /** If set, delivery waits for retries that are due before this time (epoch ms). If absent, it makes one pass. */
  readonly until?: number;
}

/** A payload and the result of trying to deliver it. */
export type DeliveryResult = DeliveryState & Pick<OutboxRow, 'id' | 'instance'>;

/**
 * Sends the owed payloads that can be sent now: quota → pacing → upload → retry → receipt. Returns one result per
 * payload, in outbox order; skips payloads whose destination the gateway doesn't have.
 */
export function deliverRows(owed: readonly OutboxRow[], given: DeliverOptions): Promise<DeliveryResult[]> {
  return withPool(given, async (pool) => {
    const results = new Map<number, DeliveryResult>();
    let rows = owed;
    while (rows.length > 0) {
      for (const result of await sendAll(pool, rows)) results.set(result.id, result);
      rows = await dueAgain(given, results);
    }
    return [...results.values()].sort((a, b) => a.id - b.id);
  });
}

/** Sends due resends (see `Resends`) of the jobs for which `isOurs` returns true. For processes without a deliverer. */
export async function resendDue(given: DeliverOptions & { readonly isOurs: (job: string) => boolean }): Promise<void> {
  const { gateway, isOurs } = given;
  const all = await gateway.store.resends.all();
  const due = all.filter(({ row, dueAt }) => isOurs(row.job) && dueAt <= gateway.clock.now());
  if (due.length === 0) return;
  await withPool(given, (pool) => Promise.all(due.map((resend) => pool.resend(resend))));
}

/** Runs a function with a pool whose requests get a few more seconds when delivery stops. */
async function withPool<T>(
  { gateway, priority, signal, until: deadline }: DeliverOptions,
  work: (pool: UploadPool) => Promise<T>,
): Promise<T> {
  const { cut, dispose } = afterGrace(signal, gateway.clock);
  try {
    return await work(new UploadPool({ gateway, priority, signal, cut, deadline }));
  } finally {
    dispose();
  }
}

async function sendAll(pool: UploadPool, rows: readonly OutboxRow[]): Promise<DeliveryResult[]> {
  const sending = rows.flatMap((row) => {
    const { id, instance } = row;
    const result = pool.send(row);
    return result === undefined ? [] : [result.then((it) => ({ ...it, id, instance }))];
  });
  return Promise.all(sending);
}

/** Waits until the first retry is due, and returns the rows to send now. */
async function dueAgain(given: DeliverOptions, results: ReadonlyMap<number, DeliveryResult>): Promise<OutboxRow[]> {
  const { gateway, signal, until = 0 } = given;
  const { clock, store } = gateway;
  const waiting = [...results.values()].flatMap((it) =>
    it.state === 'waiting_retry' && it.until <= until ? [it] : [],
  );
  if (waiting.length === 0 || signal.aborted) return [];
  const first = Math.min(...waiting.map((it) => it.until));
  try {
    await clock.sleep(Math.max(1, first - clock.now()), signal);
  } catch {
    return [];
  }
  // Also compares with the planned time, because the clock may have been changed during the sleep.
  const ids = waiting.filter((it) => it.until <= Math.max(first, clock.now())).map(({ id }) => id);
  const rows = await Promise.all(ids.map((id) => store.outbox.find(id)));
  return rows.filter((row) => row !== undefined);
}
