import { statSync } from 'node:fs';
import { takeBlockedRuns } from './runs/blocked-runs.ts';
import type { Store } from './store.ts';
import type { OutboxRow, RunRow } from './tables.ts';

/** Counted and not dated: a clock that was wrong for a while must not cost the history. */
export const maxKeptRuns = 20_000;

export interface RecoverResult {
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
export async function recover(store: Store): Promise<RecoverResult> {
  const suspects = await takeBlockedRuns(store);
  const interrupted = await store.runs.interruptOrphans();
  await store.retries.giveUpOrphans();
  const damaged: OutboxRow[] = [];
  for (const row of await store.outbox.inState('owed')) {
    const message = damageOf(row);
    if (message === undefined) continue;
    if (await store.outbox.markDead(row.id, { code: 'PAYLOAD_DAMAGED', message })) damaged.push(row);
  }
  await store.generations.prune();
  const swept = [...(await store.payloads.sweep()), ...(await store.generations.sweep())];
  await store.leases.removeDead();
  await store.heartbeats.removeDead();
  await store.runs.prune(maxKeptRuns);
  return { interrupted, damaged, suspects, swept };
}

function damageOf({ path, bytes }: OutboxRow): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === bytes) return undefined;
  return size === undefined
    ? `The payload's file ${path} is gone`
    : `The payload has ${size} bytes instead of ${bytes}`;
}
