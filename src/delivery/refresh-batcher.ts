import { type RefreshOptions, type RefreshResult, refreshDatasources, resultFor } from './refresh.ts';

/** The refresh of one job. */
export type BatchedRefresh = RefreshOptions & Required<Pick<RefreshOptions, 'rank' | 'run'>>;

/** A ticket for a job that is about to request a refresh. Always call `cancel` when done. */
export interface RefreshTicket {
  /**
   * Requests the refresh as part of the batch. Rejects with the request's error, or with the reason of the job's own
   * signal.
   */
  refresh(wish: BatchedRefresh): Promise<RefreshResult>;
  /** Leaves the batch, so that the other jobs don't have to wait. Idempotent. */
  cancel(): void;
}

interface PendingRefresh {
  readonly wish: BatchedRefresh;
  readonly resolve: (result: RefreshResult) => void;
  readonly reject: (reason: unknown) => void;
}

/** The refreshes whose tickets were taken at the same moment. */
interface Batch {
  awaited: number;
  readonly asked: PendingRefresh[];
}

/**
 * Batches refreshes that are due at the same moment. Waits until every ticket holder has requested a refresh or left,
 * then sends one request per destination and client account.
 */
export class RefreshBatcher {
  #batch: Batch | undefined;

  /** Takes a ticket. Take the tickets for all due jobs before any of these jobs requests a refresh. */
  join(): RefreshTicket {
    const round = this.#batch ?? { awaited: 0, asked: [] };
    this.#batch = round;
    round.awaited++;
    let isAwaited = true;
    const rise = (): void => {
      if (!isAwaited) return;
      isAwaited = false;
      round.awaited--;
      if (round.awaited === 0) this.#close(round);
    };
    return {
      cancel: rise,
      refresh: (wish) => {
        const { promise, resolve, reject } = Promise.withResolvers<RefreshResult>();
        round.asked.push({ wish, resolve, reject });
        rise();
        return promise;
      },
    };
  }

  #close(round: Batch): void {
    if (this.#batch === round) this.#batch = undefined;
    const gates = Map.groupBy(round.asked, ({ wish }) => wish.gate);
    for (const [, asked] of gates) {
      const alike = Map.groupBy(asked, ({ wish }) => `${wish.priority} ${wish.clientId ?? ''}`);
      for (const [, together] of alike) void send(together);
    }
  }
}

/**
 * Sends one request for all pending refreshes, and counts it for the run of the first one. Each refresh gets its part
 * of the response.
 */
async function send(asked: readonly PendingRefresh[]): Promise<void> {
  const { signal, dispose } = whenAllAborted(asked);
  const { gateway, gate, clientId, priority, run } = asked[0]!.wish;
  const datasources = [...new Set(asked.flatMap(({ wish }) => wish.datasources))];
  const rank = Math.max(...asked.map(({ wish }) => wish.rank));
  const client = clientId === undefined ? {} : { clientId };
  try {
    const whole = await refreshDatasources({ gateway, gate, datasources, ...client, priority, rank, signal, run });
    for (const { wish, resolve } of asked) resolve(resultFor(wish.datasources, whole, gate.destination.name));
  } catch (error) {
    for (const { reject } of asked) reject(error);
  } finally {
    dispose();
  }
}

/**
 * Returns a signal that aborts the shared request once all of its callers have been canceled. A caller that is canceled
 * earlier stops waiting immediately.
 */
function whenAllAborted(asked: readonly PendingRefresh[]): { signal: AbortSignal; dispose: () => void } {
  const all = new AbortController();
  let waiting = asked.length;
  const leaving = asked.map(({ wish: { signal }, reject }) => {
    const leave = (): void => {
      reject(signal.reason);
      waiting--;
      if (waiting === 0) all.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    return () => signal.removeEventListener('abort', leave);
  });
  const dispose = (): void => {
    for (const stay of leaving) stay();
  };
  return { signal: all.signal, dispose };
}
