import type { Transaction } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { BlobBackend } from '../blobs/blob-storage.ts';
import type { Processes } from '../processes/processes.ts';
import type { Tables } from '../tables.ts';
import type { Engine } from './engine.ts';
import type { PendingWrites } from './pending-writes.ts';

/** The data that every repository needs: the database or a transaction in it, the clock, and the known processes. */
export interface StoreContext extends Pick<Engine, 'db' | 'lock' | 'unlockedDb'> {
  /** The keys that the current transaction has locked. If absent, it has locked the whole state. */
  readonly locked?: ReadonlySet<string> | undefined;
  readonly clock: Clock;
  readonly processes: Processes;
  /** Repeats failed writes that release resources held by this process. */
  readonly pending: PendingWrites;
  /** Absolute path of the state folder. */
  readonly folder: string;
  /** Notices failovers of the database's server. Absent if the database is a file. */
  readonly failovers?: { isDue(): boolean; check(): Promise<void> };
  /** Where blobs are stored. If absent, the files in the state folder are the only ones. */
  readonly blobs?: BlobBackend;
  /** How much space this machine has for copies of blobs. */
  readonly copies?: CopySpace;
  /** Which delivered payloads are kept. If absent, payloads are deleted as soon as they're delivered. */
  readonly keep?: PayloadRetention;
  /** Jobs whose newest payloads are always kept, because other jobs read their rows. */
  readonly readJobs?: ReadonlySet<string>;
  /** What the current transaction takes for this process. Absent outside of transactions. */
  readonly taken?: Taken;
}

/**
 * By ID, writes that give back something that may have been taken. They're idempotent, and change nothing if it wasn't
 * taken.
 */
type Taken = Map<string, (outside: StoreContext) => Promise<unknown>>;

/** The space for copies of blobs. */
export interface CopySpace {
  /** Rejects with a Problem if there isn't enough space for a copy. Absent if space isn't limited. */
  claim?: ((bytes: number) => Promise<void>) | undefined;
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

type Work<T> = (inside: StoreContext) => Promise<T>;

/**
 * Runs `work` in the context's transaction. If the context has none, starts a new transaction, which locks the whole
 * state: no other transaction runs at the same time.
 */
export function inTransaction<T>(context: StoreContext, work: Work<T>): Promise<T> {
  return transact(context, undefined, work);
}

/**
 * Like {@link inTransaction}, but locks only `keys` (see `lock-keys.ts`): transactions that have no key in common can
 * run at the same time. Everything that `work` reads in order to change it must belong to the keys.
 */
export function inTransactionOn<T>(context: StoreContext, keys: readonly string[], work: Work<T>): Promise<T> {
  return transact(context, keys, work);
}

async function transact<T>(context: StoreContext, keys: readonly string[] | undefined, work: Work<T>): Promise<T> {
  if (context.db.isTransaction) {
    assertLocked(context, keys);
    return work(context);
  }
  for (let tries = 0; ; tries++) {
    const result = await attempt(context, keys, work);
    if (result !== unchecked) return result;
    if (tries === maxChecks) throw new Error('the database changes servers faster than it can be checked');
    await context.failovers?.check();
  }
}

const maxChecks = 10;
/** The result of a transaction that was rolled back because the server must be checked first. */
const unchecked = Symbol('unchecked');

async function attempt<T>(
  context: StoreContext,
  keys: readonly string[] | undefined,
  work: Work<T>,
): Promise<T | typeof unchecked> {
  const taken: Taken = new Map();
  let isDone = false;
  try {
    return await context.db.transaction().execute(async (db: Transaction<Tables>) => {
      await context.lock?.(db, keys);
      // The transaction's begin has shown which server it runs on.
      if (context.failovers?.isDue()) return unchecked;
      const result = await work({ ...context, db, taken, locked: keys && new Set(keys) });
      isDone = true;
      return result;
    });
  } catch (error) {
    // The commit failed, or only its response was lost.
    if (isDone) giveBack(context, taken);
    throw error;
  }
}

/**
 * Gives back what was taken by statements whose outcome is unknown, as soon as the database can be written. Their
 * caller gets an error, so it doesn't know that it has taken anything.
 */
function giveBack(context: StoreContext, taken: Taken): void {
  for (const [id, write] of taken) context.pending.add(id, () => write(context));
}

/**
 * Runs `work` in the context's transaction, which must have locked what `work` changes. If the context has none, starts
 * a transaction that locks the whole state. For functions that don't know the keys of what they change.
 */
export function joinTransaction<T>(context: StoreContext, work: Work<T>): Promise<T> {
  return context.db.isTransaction ? work(context) : inTransaction(context, work);
}

/**
 * Runs statements that need no lock, because each of them compares and writes by itself. Where a commit has to wait for
 * the disk of this machine, they're one transaction.
 */
export async function withoutLock<T>(context: StoreContext, work: Work<T>): Promise<T> {
  const { unlockedDb: db } = context;
  if (db === undefined) return inTransactionOn(context, [], work);
  const taken: Taken = new Map();
  try {
    return await work({ ...context, db, taken });
  } catch (error) {
    giveBack(context, taken);
    throw error;
  }
}

/** An open transaction can't lock more keys, because two transactions could then wait for each other. */
function assertLocked({ locked }: StoreContext, keys: readonly string[] | undefined): void {
  if (locked === undefined) return;
  const missing = keys === undefined ? ['the whole state'] : keys.filter((key) => !locked.has(key));
  if (missing.length > 0) throw new Error(`the transaction has not locked ${missing.join(', ')}`);
}
