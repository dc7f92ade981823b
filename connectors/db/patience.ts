import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits at most `patienceMs` for `settled`; after that, the work continues in the background. The wait keeps the
 * process running.
 */
export async function waitAtMost(patienceMs: number, settled: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  await Promise.race([settled, wait(patienceMs, undefined, { signal: patience.signal })]).finally(() =>
    patience.abort(),
  );
}
