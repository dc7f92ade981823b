import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { Processes } from '../processes/processes.ts';
import type { Tables } from '../tables.ts';
import type { PendingWrites } from './pending-writes.ts';

/** What every part of the store stands on: the database or a transaction of it, time, and the processes around. */
export interface StoreContext {
  readonly db: Kysely<Tables>;
  readonly clock: Clock;
  readonly processes: Processes;
  /** What gives back what this process holds. */
  readonly pending: PendingWrites;
  /** Absolute path of the state folder. */
  readonly folder: string;
  /** Absent: nothing is kept once it is delivered. */
  readonly keep?: PayloadRetention;
}

/** How long delivered payloads stay on the disk, so that one can be put back: the newest ones of each instance. */
export interface PayloadRetention {
  readonly payloads: number;
  readonly milliseconds: number;
}

/** Runs `work` in the transaction that `context` is already in, or in one of its own. */
export function inTransaction<T>(context: StoreContext, work: (inside: StoreContext) => Promise<T>): Promise<T> {
  if (context.db.isTransaction) return work(context);
  return context.db.transaction().execute((db: Transaction<Tables>) => work({ ...context, db }));
}
