import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseConnection, SqliteDialect, type SqliteDialectConfig, SqliteDriver } from 'kysely';
import { Problem } from '../../lib/problem.ts';
import { isWrite } from './transaction-guard.ts';
import type { WriteHealth } from './write-health.ts';

/** How long a statement waits for another process to finish its transaction. */
export const lockPatienceMs = 15_000;
const retryMs = 25;

/**
 * SQLite dialect that retries a locked statement without blocking the event loop (polling with a deadline). SQLite's
 * own busy timeout blocks the thread: two such waits in a row would trip the event-loop watchdog, which ends the
 * process.
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
 * One deadline per lock. All statements queued for the connection share it, so the last one fails as early as the
 * first.
 */
class LockPatience {
  readonly #health: WriteHealth;
  #lock: { readonly since: number; lastSeen: number } | undefined;

  constructor(health: WriteHealth) {
    this.#health = health;
  }

  /** @throws Problem STATE_LOCKED once the database has been locked for {@link lockPatienceMs}. */
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

/** Readers succeed whatever is locked (WAL), so their success doesn't show that the lock is free. */
const takesLock = (sql: string): boolean => sql === 'begin' || isWrite(sql);

function isLocked(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'STATE_LOCKED';
}
