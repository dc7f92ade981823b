import type { Repositories } from '../state/store.ts';
import type { Closed } from './closed.ts';
import type { RequestOutcome } from './retry.ts';
import type { Priority } from './send-queue.ts';

/** A request that waits for its slot and is paid for. */
export interface GatedRequest<T> {
  readonly priority: Priority;
  /** Among requests of the same priority the higher goes first; 0 where nothing is said. */
  readonly rank?: number;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Ends the wait for a place; the request itself is `send`'s own affair. */
  readonly signal?: AbortSignal;
  /** It is turned away if it has no slot by then, epoch milliseconds; absent: it waits for one. */
  readonly deadline?: number | undefined;
  /** Told once, if it waits because requests without an answer may still arrive. */
  readonly waits?: (closed: Closed) => Promise<void>;
  /** Written down together with the place and the quota; undefined gives both back: there is nothing to send. */
  readonly prepare: (parts: Repositories) => Promise<T | undefined>;
  /** Never rejects: what the network threw is an outcome too. */
  readonly send: (prepared: T) => Promise<RequestOutcome>;
}

/** `idle`: `prepare` found nothing to send. */
export type GatedResult = RequestOutcome | { readonly closed: Closed } | 'idle';
