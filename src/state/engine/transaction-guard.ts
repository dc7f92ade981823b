import { isUnwritable } from './state-problem.ts';
import type { WriteHealth } from './write-health.ts';

/** The parts of a database connection that the guard uses. */
export interface GuardedConnection {
  readonly inTransaction: boolean;
  exec(text: string): unknown;
}

/**
 * Keeps track of transactions that SQLite ends by itself: SQLite rolls a transaction back if the disk is full or fails.
 * Without the guard, the explicit rollback that follows would throw and hide the first error. And if the caller ignored
 * that error, the statements that follow would be committed one by one, outside any transaction.
 */
export class TransactionGuard {
  readonly #connection: GuardedConnection;
  readonly #health: WriteHealth;
  #isBegun = false;
  /** Whether the current transaction has changed rows. */
  #isChanged = false;
  /** The error that caused SQLite to roll the transaction back. */
  #failure: unknown;

  constructor(connection: GuardedConnection, health: WriteHealth) {
    this.#connection = connection;
    this.#health = health;
  }

  /**
   * Runs a statement. If SQLite has rolled the statement's transaction back, throws the error that caused the rollback.
   */
  run<T>(text: string, execute: () => T): T {
    if (text === 'begin') return this.#begin(execute);
    if (this.#failure !== undefined) throw this.#failure;
    try {
      const result = execute();
      this.#note(text, result);
      return result;
    } catch (error) {
      // Don't report a lock here, because it may be free on the next attempt. The caller reports it when it stops
      // retrying.
      if (isUnwritable(error) && error.code !== 'STATE_LOCKED') this.#health.refused(error);
      if (this.#isBegun && !this.#connection.inTransaction) this.#failure = error;
      throw error;
    }
  }

  /**
   * Updates the state after a statement. Reports the disk as writable only if rows were changed: a commit without
   * changes doesn't write to the disk.
   */
  #note(text: string, result: unknown): void {
    if (text === 'commit') this.#isBegun = false;
    else if (hasChanged(text, result)) this.#isChanged = true;
    if (!this.#isChanged || this.#connection.inTransaction) return;
    this.#isChanged = false;
    this.#health.written();
  }

  /**
   * Ends the transaction if it's still open. Never throws, because this method runs while another error is being
   * handled and must not hide that error.
   */
  rollBack(): void {
    this.#isBegun = false;
    this.#isChanged = false;
    this.#failure = undefined;
    if (!this.#connection.inTransaction) return;
    try {
      this.#connection.exec('rollback');
    } catch {
      // The next `begin` tries again and reports the error.
    }
  }

  #begin<T>(execute: () => T): T {
    if (this.#connection.inTransaction) this.#connection.exec('rollback');
    const result = execute();
    this.#isBegun = true;
    return result;
  }
}

/** Returns whether a statement changes rows. */
export const isWrite = (text: string): boolean => /^(insert|update|delete)/i.test(text);

function hasChanged(text: string, result: unknown): boolean {
  if (!isWrite(text)) return false;
  return Array.isArray(result) ? result.length > 0 : (result as { changes: number | bigint }).changes > 0;
}
