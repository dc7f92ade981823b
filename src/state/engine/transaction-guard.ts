import { isUnwritable } from './state-problem.ts';
import type { WriteHealth } from './write-health.ts';

/** What the guard needs of a database connection. */
export interface GuardedConnection {
  readonly inTransaction: boolean;
  exec(text: string): unknown;
}

/**
 * Keeps the begin, commit and rollback of a connection in step with SQLite, which rolls a transaction back by itself when
 * the disk is full or fails. Without this the rollback that follows throws and hides the first error, and statements after
 * a swallowed error commit one by one, outside of any transaction.
 */
export class TransactionGuard {
  readonly #connection: GuardedConnection;
  readonly #health: WriteHealth;
  #isBegun = false;
  /** Something was changed that is not committed yet. */
  #isChanged = false;
  /** Why SQLite has ended the transaction that was begun. */
  #failure: unknown;

  constructor(connection: GuardedConnection, health: WriteHealth) {
    this.#connection = connection;
    this.#health = health;
  }

  /** Runs a statement; one of a transaction that SQLite has rolled back fails with the error that ended it. */
  run<T>(text: string, execute: () => T): T {
    if (text === 'begin') return this.#begin(execute);
    if (this.#failure !== undefined) throw this.#failure;
    try {
      const result = execute();
      this.#note(text, result);
      return result;
    } catch (error) {
      // A lock may be gone at the next try: who gives up waiting for it says so.
      if (isUnwritable(error) && error.code !== 'STATE_LOCKED') this.#health.refused(error);
      if (this.#isBegun && !this.#connection.inTransaction) this.#failure = error;
      throw error;
    }
  }

  /** A commit of nothing says nothing about the disk. */
  #note(text: string, result: unknown): void {
    if (text === 'commit') this.#isBegun = false;
    else if (hasChanged(text, result)) this.#isChanged = true;
    if (!this.#isChanged || this.#connection.inTransaction) return;
    this.#isChanged = false;
    this.#health.written();
  }

  /** Ends the transaction, if there still is one. Called because of an error that must not be replaced: never throws. */
  rollBack(): void {
    this.#isBegun = false;
    this.#isChanged = false;
    this.#failure = undefined;
    if (!this.#connection.inTransaction) return;
    try {
      this.#connection.exec('rollback');
    } catch {
      // The next begin tries again, and says what is wrong.
    }
  }

  #begin<T>(execute: () => T): T {
    if (this.#connection.inTransaction) this.#connection.exec('rollback');
    const result = execute();
    this.#isBegun = true;
    return result;
  }
}

/** True for a statement that changes rows. */
export const isWrite = (text: string): boolean => /^(insert|update|delete)/i.test(text);

function hasChanged(text: string, result: unknown): boolean {
  if (!isWrite(text)) return false;
  return Array.isArray(result) ? result.length > 0 : (result as { changes: number | bigint }).changes > 0;
}
