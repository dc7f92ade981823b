import { isUnwritable } from './state-problem.ts';
import type { WriteHealth } from './write-health.ts';

/** The parts of a database connection that the guard uses. */
export interface GuardedConnection {
  readonly inTransaction: boolean;
  exec(text: string): unknown;
}

/**
 * Keeps begin, commit and rollback in step with SQLite, which rolls back by itself if the disk is full or fails.
 * Without this, the explicit rollback that follows would throw and hide the first error, and statements after a
 * swallowed error would commit one by one outside any transaction.
 */
export class TransactionGuard {
  readonly #connection: GuardedConnection;
  readonly #health: WriteHealth;
  #isBegun = false;
  /** True if there are uncommitted changes. */
  #isChanged = false;
  /** Why SQLite rolled the transaction back. */
  #failure: unknown;

  constructor(connection: GuardedConnection, health: WriteHealth) {
    this.#connection = connection;
    this.#health = health;
  }

  /** Runs a statement. If SQLite has rolled its transaction back, throws the error that caused the rollback. */
  run<T>(text: string, execute: () => T): T {
    if (text === 'begin') return this.#begin(execute);
    if (this.#failure !== undefined) throw this.#failure;
    try {
      const result = execute();
      this.#note(text, result);
      return result;
    } catch (error) {
      // The lock may be free on the next attempt. When the caller stops retrying, it reports the error.
      if (isUnwritable(error) && error.code !== 'STATE_LOCKED') this.#health.refused(error);
      if (this.#isBegun && !this.#connection.inTransaction) this.#failure = error;
      throw error;
    }
  }

  /** A commit without changes doesn't show that the disk is writable. */
  #note(text: string, result: unknown): void {
    if (text === 'commit') this.#isBegun = false;
    else if (hasChanged(text, result)) this.#isChanged = true;
    if (!this.#isChanged || this.#connection.inTransaction) return;
    this.#isChanged = false;
    this.#health.written();
  }

  /**
   * Ends the transaction if it's still open. Never throws: it runs while another error is handled, and must not replace
   * it.
   */
  rollBack(): void {
    this.#isBegun = false;
    this.#isChanged = false;
    this.#failure = undefined;
    if (!this.#connection.inTransaction) return;
    try {
      this.#connection.exec('rollback');
    } catch {
      // The next begin retries and reports the error.
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
