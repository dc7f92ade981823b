import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/**
 * Number of bytes that this process uses, inside and outside V8, after garbage collection.
 *
 * @param limit if the result is at or below this limit, it may include garbage, because a collection takes as long as a
 * whole test
 */
export async function heldBytes(limit = 0): Promise<number> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  for (let i = 0; i < 2 && allocated() > limit; i++) {
    collect();
    await wait(0);
  }
  return allocated();
}

/**
 * Waits until the process stops allocating, because the read-ahead has either reached its limit or read everything.
 * Returns {@link heldBytes}. Polls without forcing garbage collection: if no objects are created, memory use doesn't
 * grow, whether or not the engine collects garbage.
 */
export async function steadyBytes(limit: number): Promise<number> {
  let last = allocated();
  for (let quiet = 0, looks = 0; quiet < 3 && looks < 50; looks++) {
    await wait(100);
    const now = allocated();
    quiet = now > last + 256 * 1024 ? 0 : quiet + 1;
    last = now;
  }
  // The second call may free objects that the first call left.
  return Math.min(await heldBytes(limit), await heldBytes(limit));
}

function allocated(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
