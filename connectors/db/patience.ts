import { setTimeout as wait } from 'node:timers/promises';

/** How long a run waits for the server to acknowledge the cancellation of a statement. */
const cancelPatienceMs = 800;
/** How long a process that is about to exit keeps running for the cancellation of a statement. */
const exitPatienceMs = 5000;
/** How long a cancellation is tried in the background. */
export const maxCancelMs = 60_000;

/**
 * Waits until a statement is canceled, but not for long: the run doesn't wait for a slow server. After that, the
 * cancellation continues in the background. For a few more seconds, it keeps the process running, because the
 * statement of a stopped process would otherwise run to its end on a server or pooler that was stalled.
 */
export async function waitForCancellation(canceled: Promise<unknown>): Promise<void> {
  const hold = setTimeout(() => {}, exitPatienceMs);
  await waitAtMost(
    cancelPatienceMs,
    canceled.finally(() => clearTimeout(hold)),
  );
}

/**
 * Waits at most `patienceMs` for `settled`. After that, the work continues in the background.
 *
 * @param options `ref`: whether the process keeps running during the wait; by default, it does
 */
export async function waitAtMost(
  patienceMs: number,
  settled: Promise<unknown>,
  options: { readonly ref?: boolean } = {},
): Promise<void> {
  const patience = new AbortController();
  await Promise.race([settled, wait(patienceMs, undefined, { ...options, signal: patience.signal })]).finally(() =>
    patience.abort(),
  );
}
