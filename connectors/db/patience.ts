import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits for `settled`, but at most `patienceMs`. The wait keeps the process running; after that, the work continues in
 * the background.
 */
export async function waitAtMost(patienceMs: number, settled: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  await Promise.race([settled, wait(patienceMs, undefined, { signal: patience.signal })]).finally(() =>
    patience.abort(),
  );
}
