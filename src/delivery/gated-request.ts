import type { Repositories } from '../state/store.ts';
import type { Closed } from './closed.ts';
import type { RequestOutcome } from './retry.ts';
import type { Priority } from './send-queue.ts';

/** A request that waits for its slot and counts against the quota. */
export interface GatedRequest<T> {
  readonly priority: Priority;
  /** Order among requests of the same priority, higher first; default 0. */
  readonly rank?: number;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Ends the wait for a slot; `send` has to abort the request itself. */
  readonly signal?: AbortSignal;
  /** Latest time at which the request may get a slot, epoch milliseconds; absent: no limit. */
  readonly deadline?: number | undefined;
  /** Called once if the request has to wait because earlier requests without a response may still arrive. */
  readonly waits?: (closed: Closed) => Promise<void>;
  /**
   * Runs in the transaction that takes the slot and counts the request. If it returns undefined, there's nothing to
   * send, and everything is rolled back.
   */
  readonly prepare: (parts: Repositories) => Promise<T | undefined>;
  /** Never rejects: network errors are outcomes. */
  readonly send: (prepared: T) => Promise<RequestOutcome>;
}

/** `idle`: `prepare` found nothing to send. */
export type GatedResult = RequestOutcome | { readonly closed: Closed } | 'idle';
