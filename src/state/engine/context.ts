import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { Processes } from '../processes/processes.ts';
import type { Tables } from '../tables.ts';
import type { PendingWrites } from './pending-writes.ts';

/** The data that every repository needs: the database or a transaction in it, the clock, and the known processes. */
export interface StoreContext {
  readonly db: Kysely<Tables>;
  readonly clock: Clock;
  readonly processes: Processes;
  /** Repeats failed writes that release resources held by this process. */
  readonly pending: PendingWrites;
  /** Absolute path of the state folder. */
  readonly folder: string;
  /** Which delivered payloads are kept. If absent, payloads are deleted as soon as they're delivered. */
  readonly keep?: PayloadRetention;
}

/** A repository reads and writes the data of one noun, either in the database or in a transaction. */
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

/** Runs `work` in the context's transaction. If the context has none, starts a new transaction. */
export function inTransaction<T>(context: StoreContext, work: (inside: StoreContext) => Promise<T>): Promise<T> {
  if (context.db.isTransaction) return work(context);
  return context.db.transaction().execute((db: Transaction<Tables>) => work({ ...context, db }));
}
