import { sweepFiles } from '../state/recover.ts';
import type { Store } from '../state/store.ts';
import type { Runtime } from './compose.ts';

/** Minimum interval between sweeps. */
const everyMs = 3_600_000;

/**
 * Sweeps the cache folder regularly if several machines share the state: other machines may have delivered or replaced
 * the payloads that are copied there. The process that plans also sweeps the blobs. An idle daemon needs no sweep. Returns
 * a function that stops the sweeps.
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
    sweep(store).catch((error: unknown) => log.error('failed to sweep the cache folder', { error: String(error) }));
  });
}

async function sweep(store: Store): Promise<void> {
  const planner = await store.leases.holder('daemon');
  await sweepFiles(store, { withBlobs: planner?.owner === store.processes.self });
}
