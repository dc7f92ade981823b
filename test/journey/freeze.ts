import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SqliteDatabase, sqliteErrorName } from '../../src/lib/sqlite.ts';
import type { Home } from './home.ts';
import type { Running } from './process.ts';

/** Suspends a daemon as a hang would, but not during a write, because its lock would block every other process. */
export async function freeze({ child }: Running, { folder }: Home): Promise<void> {
  for (;;) {
    child.kill('SIGSTOP');
    while (!isStopped(child.pid!)) await wait(1);
    if (isUnlocked(join(folder, 'state', 'sluice.db'))) return;
    child.kill('SIGCONT');
    await wait(20);
  }
}

/** The state comes after the program's name, which is in brackets: proc_pid_stat(5). */
function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

function isUnlocked(file: string): boolean {
  const database = new SqliteDatabase(file, { busyTimeoutMs: 0 });
  try {
    database.exec('begin immediate');
    database.exec('rollback');
    return true;
  } catch (error) {
    if (sqliteErrorName(error)?.startsWith('SQLITE_BUSY') === true) return false;
    throw error;
  } finally {
    database.close();
  }
}
