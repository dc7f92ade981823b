import { isUnwritable } from './engine/state-problem.ts';
import { takeBlockedRuns } from './runs/blocked-runs.ts';
import type { Repositories, Store } from './store.ts';
import type { OutboxRow, RunRow } from './tables.ts';

/**
 * Maximum number of runs in the history. The history is limited by number and not by age, so that a wrong clock can't
 * delete it.
 */
export const maxKeptRuns = 20_000;

export interface RecoverResult {
  /** Runs whose process died. */
  readonly interrupted: readonly RunRow[];
  /** Payloads that were marked dead because their files were missing or had the wrong size. */
  readonly damaged: readonly OutboxRow[];
  /** Jobs whose last run may have blocked its process. These jobs run after all other jobs, and one at a time. */
  readonly suspects: Set<string>;
  /** Files that were not needed. */
  readonly swept: readonly string[];
}

/**
 * Recovers from a crash. This is the first step of every start: it closes the runs of dead processes, marks damaged
 * payloads dead, and deletes files that aren't needed. Other processes may use the state folder at the same time. A
 * damaged payload doesn't affect other payloads. Only one of the processes that share a state on a server `prunes`; the
 * others only look at the files of their own machine.
 */
export async function recover(store: Store, { prunes = true } = {}): Promise<RecoverResult> {
  const suspects = await takeBlockedRuns(store);
  const interrupted = await store.transaction(closeDead);
  const damaged: OutboxRow[] = [];
  const owed = await store.outbox.inState('owed');
  const sizes = await store.blobs.sizes(owed.map(({ path }) => path));
  for (const row of owed) {
    const message = damageOf(row, sizes.get(row.path));
    if (message === undefined) continue;
    if (await store.outbox.markDead(row.id, { code: 'PAYLOAD_DAMAGED', message })) damaged.push(row);
  }
  if (prunes) await store.generations.prune();
  const swept = await sweepFiles(store, { withBlobs: prunes });
  if (prunes) await store.runs.prune(maxKeptRuns);
  return { interrupted, damaged, suspects, swept };
}

/** A payload's copy is deleted if it wasn't used for this time, because a payload is rarely sent twice. */
const unusedMs = 10 * 60_000;

/**
 * Deletes files that aren't needed, and copies of payloads. `withBlobs`: also blobs that aren't needed and that no file
 * on this machine is a copy of. Returns the paths of the files that aren't needed.
 */
export async function sweepFiles(
  { payloads, generations, blobs, attemptFiles }: Store,
  given: { readonly withBlobs: boolean },
): Promise<string[]> {
  const swept = [...(await payloads.sweep(given)), ...(await generations.sweep(given))];
  await attemptFiles.sweep();
  // If their storage is unavailable, the next sweep removes them.
  if (given.withBlobs) await blobs.purge().catch(otherThanUnwritable);
  await blobs.evict(payloads.root, unusedMs);
  return swept;
}

function otherThanUnwritable(error: unknown): void {
  if (!isUnwritable(error)) throw error;
}

/**
 * Closes the runs that dead processes left open, and returns these runs. Does all of this in one transaction, because
 * there is usually nothing to write.
 */
async function closeDead({ runs, retries, leases, processSettings }: Repositories): Promise<RunRow[]> {
  const interrupted = await runs.interruptOrphans();
  await retries.giveUpOrphans();
  await leases.removeDead();
  await processSettings.removeGone();
  return interrupted;
}

function damageOf({ path, bytes }: OutboxRow, size: number | undefined): string | undefined {
  if (size === bytes) return undefined;
  return size === undefined
    ? `The payload's file ${path} is missing`
    : `The payload has ${size} bytes instead of ${bytes}`;
}
