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
  #isBegun = false;
  /** Why SQLite has ended the transaction that was begun. */
  #failure: unknown;

  constructor(connection: GuardedConnection) {
    this.#connection = connection;
  }

  /** Runs a statement; one of a transaction that SQLite has rolled back fails with the error that ended it. */
  run<T>(text: string, execute: () => T): T {
    if (text === 'begin') return this.#begin(execute);
    if (this.#failure !== undefined) throw this.#failure;
    try {
      const result = execute();
      if (text === 'commit') this.#isBegun = false;
      return result;
    } catch (error) {
      if (this.#isBegun && !this.#connection.inTransaction) this.#failure = error;
      throw error;
    }
  }

  /** Ends the transaction, if there still is one. Called because of an error that must not be replaced: never throws. */
  rollBack(): void {
    this.#isBegun = false;
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
