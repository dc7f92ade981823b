import type { Dialect, SqliteStatement } from 'kysely';
import { inDiskStep } from '../../lib/disk-steps.ts';
import { SqliteDatabase, type SqliteValue, sqliteErrorName } from '../../lib/sqlite.ts';
import { lockPatienceMs, PatientSqliteDialect } from './patient-driver.ts';
import { stateProblem } from './state-problem.ts';
import { TransactionGuard } from './transaction-guard.ts';
import { WriteHealth } from './write-health.ts';

/**
 * How long SQLite itself waits for another process to finish its transaction, which blocks the thread. While opening,
 * it waits longer.
 */
const busyTimeoutMs = 25;
const keptStatements = 300;

interface SqliteStateOptions {
  readonly durable?: boolean;
  /** If the file is missing, fail instead of creating it. */
  readonly mustExist?: boolean;
  readonly health?: WriteHealth;
}

/**
 * The SQLite dialect with four additions: it waits for locks without blocking the event loop; transactions take the
 * write lock at their start (one that reads first and writes later could otherwise fail on a stale snapshot);
 * statements are prepared once and cached; and every commit is synced to disk before it returns, so owed payloads
 * survive a power loss. If `durable` is false, the database is in memory, for this process alone, and the file stays
 * empty.
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
 * If two processes open a new file together, the second gets a "busy" error immediately when it switches to WAL,
 * because SQLite doesn't apply its busy timeout there. So we poll.
 */
function switchToWal(database: SqliteDatabase): void {
  for (let end: number | undefined; ; ) {
    try {
      database.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      // The first use of `performance` takes 2 ms.
      end ??= performance.now() + lockPatienceMs;
      const isBusy = sqliteErrorName(error)?.startsWith('SQLITE_BUSY') === true;
      if (!isBusy || performance.now() > end) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
  }
}
