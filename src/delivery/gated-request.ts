import type { Repositories } from '../state/store.ts';
import type { Closed } from './closed.ts';
import type { RequestOutcome } from './retry.ts';
import type { Priority } from './send-queue.ts';

/** A request that waits for its slot and counts against the quota. */
export interface GatedRequest<T> {
  readonly priority: Priority;
  /** Rank among requests of the same priority; higher ranks go first. Default: 0. */
  readonly rank?: number;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Aborts the wait for a slot, but not the request itself, which `send` must abort. */
  readonly signal?: AbortSignal;
  /** Latest time (epoch ms) at which the request may get a slot. If absent, there's no limit. */
  readonly deadline?: number | undefined;
  /** Called once if the request has to wait because earlier requests without a response may still arrive. */
  readonly waits?: (closed: Closed) => Promise<void>;
  /** The locks that `prepare` needs. */
  readonly keys?: readonly string[];
  /**
   * Runs in the transaction that takes the slot and counts the request. If it returns undefined, there's nothing to
   * send, and the transaction is rolled back.
   */
  readonly prepare: (parts: Repositories) => Promise<T | undefined>;
  /**
   * Never rejects: network errors are returned as outcomes. It must call `beforeSent` right before the request's first
   * byte, and send nothing if that throws.
   */
  readonly send: (prepared: T, beforeSent: () => void) => Promise<RequestOutcome>;
}

/** `idle`: `prepare` found nothing to send. */
export type GatedResult = RequestOutcome | { readonly closed: Closed } | 'idle';
