import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SqliteDatabase, sqliteErrorName } from '../../src/lib/sqlite.ts';
import type { Home } from './home.ts';
import type { Running } from './process.ts';

/** Stops a daemon where it is, as a hang would, but not while it writes: its lock would keep every other process waiting. */
export async function freeze({ child }: Running, { folder }: Home): Promise<void> {
  for (;;) {
    child.kill('SIGSTOP');
    while (!isStopped(child.pid!)) await wait(1);
    if (isUnlocked(join(folder, 'state', 'sluice.db'))) return;
    child.kill('SIGCONT');
    await wait(20);
  }
}

/** The state stands after the name of the program, which is in brackets: proc_pid_stat(5). */
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
