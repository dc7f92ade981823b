import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseConnection, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely';
import { Problem } from '../../lib/problem.ts';
import { isWrite } from './transaction-guard.ts';
import type { WriteHealth } from './write-health.ts';

/** How long a statement waits for another process to finish its transaction, in milliseconds. */
export const lockPatienceMs = 15_000;
const retryMs = 25;

/**
 * An SQLite dialect that retries a statement when the database is locked. It polls until a deadline and doesn't block
 * the event loop. SQLite's own busy timeout blocks the thread: two such waits in a row would trigger the event-loop
 * watchdog, which ends the process.
 */
export class PatientSqliteDialect extends SqliteDialect {
  readonly #options: SqliteDialectConfig;
  readonly #health: WriteHealth;

  constructor(options: SqliteDialectConfig, health: WriteHealth) {
    super(options);
    this.#options = options;
    this.#health = health;
  }

  override createDriver(): SqliteDriver {
    return new PatientDriver(this.#options, this.#health);
  }
}

class PatientDriver extends SqliteDriver {
  readonly #patience: LockPatience;

  constructor(options: SqliteDialectConfig, health: WriteHealth) {
    super(options);
    this.#patience = new LockPatience(health);
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    return {
      executeQuery: (query) => this.#patience.run(query.sql, () => connection.executeQuery(query)),
      streamQuery: connection.streamQuery.bind(connection),
    };
  }
}

/**
 * Waits for a lock until a deadline. All statements of a connection share one deadline, so the last of them times out
 * no later than the first.
 */
class LockPatience {
  readonly #health: WriteHealth;
  #lock: { readonly since: number; lastSeen: number } | undefined;

  constructor(health: WriteHealth) {
    this.#health = health;
  }

  /** @throws Problem STATE_LOCKED if the database has been locked for {@link lockPatienceMs}. */
  async run<T>(sql: string, execute: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await execute();
        if (takesLock(sql)) this.#lock = undefined;
        return result;
      } catch (error) {
        if (!isLocked(error)) throw error;
        if (this.#isOver()) {
          this.#health.refused(error);
          throw error;
        }
      }
      await sleep(retryMs);
    }
  }

  #isOver(): boolean {
    const now = performance.now();
    const isSame = this.#lock !== undefined && now - this.#lock.lastSeen < lockPatienceMs;
    this.#lock = { since: isSame && this.#lock !== undefined ? this.#lock.since : now, lastSeen: now };
    return now - this.#lock.since >= lockPatienceMs;
  }
}

/**
 * Returns whether a statement needs the write lock. Readers succeed even while the lock is taken (WAL), so their
 * success doesn't show that it's free.
 */
const takesLock = (sql: string): boolean => sql === 'begin' || isWrite(sql);

function isLocked(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'STATE_LOCKED';
}
