import { statSync } from 'node:fs';
import { takeBlockedRuns } from './blocked-runs.ts';
import type { Store } from './store.ts';
import type { OutboxRow, RunRow } from './tables.ts';

/** Counted and not dated: a clock that was wrong for a while must not cost the history. */
export const keptRuns = 20_000;

export interface Healed {
  /** Runs whose process died under them. */
  readonly interrupted: readonly RunRow[];
  /** Payloads whose file is gone or has another size: dead now. */
  readonly damaged: readonly OutboxRow[];
  /** Jobs whose last run may have blocked its process: they run last, and one at a time. */
  readonly suspects: Set<string>;
  /** Files that nothing wanted. */
  readonly swept: readonly string[];
}

/**
 * What every start does first: closes the runs of dead processes, puts damaged payloads aside, sweeps files that no
 * one wants. Harmless beside other processes. One damaged payload never stops the rest (R25).
 */
export async function heal(store: Store): Promise<Healed> {
  const suspects = await takeBlockedRuns(store);
  const interrupted = await store.runs.interruptOrphans();
  await store.retries.giveUpOrphans();
  const damaged: OutboxRow[] = [];
  for (const row of await store.outbox.inState('owed')) {
    const message = damageOf(row);
    if (message === undefined) continue;
    if (await store.outbox.bury(row.id, { code: 'PAYLOAD_DAMAGED', message })) damaged.push(row);
  }
  await store.sets.prune();
  const swept = [...(await store.payloads.sweep()), ...(await store.sets.sweep())];
  await store.leases.bury();
  await store.owners.bury();
  await store.runs.prune(keptRuns);
  return { interrupted, damaged, suspects, swept };
}

function damageOf({ path, bytes }: OutboxRow): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === bytes) return undefined;
  return size === undefined
    ? `The payload's file ${path} is gone`
    : `The payload has ${size} bytes instead of ${bytes}`;
}
