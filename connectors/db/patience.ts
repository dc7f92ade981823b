import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits at most `patienceMs` for `settled`. The process keeps running during the wait. After that, the work continues
 * in the background.
 */
export async function waitAtMost(patienceMs: number, settled: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  await Promise.race([settled, wait(patienceMs, undefined, { signal: patience.signal })]).finally(() =>
    patience.abort(),
  );
}
