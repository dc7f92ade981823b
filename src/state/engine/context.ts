import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { Processes } from '../processes/processes.ts';
import type { Tables } from '../tables.ts';
import type { PendingWrites } from './pending-writes.ts';

/** What every repository needs: the database or a transaction of it, the clock, and the known processes. */
export interface StoreContext {
  readonly db: Kysely<Tables>;
  readonly clock: Clock;
  readonly processes: Processes;
  /** Retries writes that release what this process holds. */
  readonly pending: PendingWrites;
  /** Absolute path of the state folder. */
  readonly folder: string;
  /** If absent, payloads are deleted when they are delivered. */
  readonly keep?: PayloadRetention;
}

/** Reads and writes what belongs to one noun, in the database or in a transaction of it. */
export abstract class Repository {
  protected readonly context: StoreContext;

  constructor(context: StoreContext) {
    this.context = context;
  }
}

/** How many delivered payloads of each instance are kept for a rollback, and for how long. */
export interface PayloadRetention {
  readonly payloads: number;
  readonly milliseconds: number;
}

/** Runs `work` in the transaction of `context`, or in a new one. */
export function inTransaction<T>(context: StoreContext, work: (inside: StoreContext) => Promise<T>): Promise<T> {
  if (context.db.isTransaction) return work(context);
  return context.db.transaction().execute((db: Transaction<Tables>) => work({ ...context, db }));
}
