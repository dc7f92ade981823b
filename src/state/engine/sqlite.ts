import type { Dialect, SqliteStatement } from 'kysely';
import { inDiskStep } from '../../lib/disk-steps.ts';
import { SqliteDatabase, type SqliteValue, sqliteErrorName } from '../../lib/sqlite.ts';
import { lockPatienceMs, PatientSqliteDialect } from './patient-driver.ts';
import { stateProblem } from './state-problem.ts';
import { TransactionGuard } from './transaction-guard.ts';
import { WriteHealth } from './write-health.ts';

/**
 * How long SQLite itself waits for another process to finish its transaction, in milliseconds. This wait blocks the
 * thread. The wait while the database is being opened is longer.
 */
const busyTimeoutMs = 25;
const keptStatements = 300;

interface SqliteStateOptions {
  readonly durable?: boolean;
  /** If true and the file doesn't exist, opening it fails instead of creating it. */
  readonly mustExist?: boolean;
  readonly health?: WriteHealth;
}

/**
 * Creates an SQLite dialect with four additions. It waits for locks without blocking the event loop. Its transactions
 * take the write lock at their start; otherwise, a transaction that reads first and writes later could fail because of
 * a stale snapshot. It prepares each statement only once. Every commit is synced to disk before it returns, so owed
 * payloads survive a power loss. If `durable` is false, the database is in memory and only this process can use it; no
 * file is written.
 */
export function sqliteDialect(
  file: string,
  { durable = true, mustExist = false, health = new WriteHealth() }: SqliteStateOptions = {},
): Dialect {
  const telling = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw stateProblem(error, file);
    }
  };
  const database = telling(
    () => new SqliteDatabase(durable ? file : ':memory:', { mustExist, busyTimeoutMs: lockPatienceMs }),
  );
  try {
    if (durable) switchToWal(database);
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma(`busy_timeout = ${busyTimeoutMs}`);
  } catch (error) {
    database.close();
    throw stateProblem(error, file);
  }
  const guard = new TransactionGuard(database, health);
  const rollback = rollbackBy(guard);
  const kept = new Map<string, SqliteStatement>();
  const prepare = (text: string): SqliteStatement => {
    const known = text === 'rollback' ? rollback : kept.get(text);
    if (known !== undefined) return known;
    if (kept.size >= keptStatements) kept.clear();
    const raw = telling(() => database.prepare(text === 'begin' ? 'begin immediate' : text));
    const guarded = <T>(execute: () => T): T => guard.run(text, () => inDiskStep(() => telling(execute)));
    const statement: SqliteStatement = {
      reader: raw.isReader,
      all: (parameters) => guarded(() => raw.all(...(parameters as SqliteValue[]))),
      run: (parameters) => guarded(() => raw.run(...(parameters as SqliteValue[]))),
      iterate: () => {
        throw new Error('the state is never read as a stream');
      },
    };
    kept.set(text, statement);
    return statement;
  };
  return new PatientSqliteDialect({ database: { prepare, close: () => database.close() } }, health);
}

function rollbackBy(guard: TransactionGuard): SqliteStatement {
  const run = () => {
    guard.rollBack();
    return { changes: 0, lastInsertRowid: 0 };
  };
  return { reader: false, all: () => [], run, iterate: () => [][Symbol.iterator]() };
}

const retryMs = 5;

/**
 * Switches the database to WAL mode. If two processes open a new file at the same time, the second one immediately gets
 * a "busy" error, because SQLite doesn't apply its busy timeout to the switch. So this function polls.
 */
function switchToWal(database: SqliteDatabase): void {
  for (let end: number | undefined; ; ) {
    try {
      database.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      // Don't read the time unless it's needed, because the first use of `performance` takes 2 ms.
      end ??= performance.now() + lockPatienceMs;
      const isBusy = sqliteErrorName(error)?.startsWith('SQLITE_BUSY') === true;
      if (!isBusy || performance.now() > end) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
  }
}
