import { sweepFiles } from '../state/recover.ts';
import type { Runtime } from './compose.ts';

/** Minimum interval between sweeps. */
const everyMs = 3_600_000;

/**
 * Sweeps the cache folder regularly if several machines share the state: other machines may have delivered or replaced
 * the payloads that are copied there. An idle daemon needs no sweep. Returns a function that stops the sweeps.
 */
export function startCacheSweep({
  events,
  store,
  clock,
  log,
}: Pick<Runtime, 'events' | 'store' | 'clock' | 'log'>): () => void {
  if (!store.blobs.areShared) return () => undefined;
  let next = clock.monotonic() + everyMs;
  return events.listen((...[name]) => {
    if ((name !== 'run.finished' && name !== 'payload.delivered') || clock.monotonic() < next) return;
    next = clock.monotonic() + everyMs;
    sweepFiles(store).catch((error: unknown) =>
      log.error('failed to sweep the cache folder', { error: String(error) }),
    );
  });
}
