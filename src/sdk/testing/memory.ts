import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/**
 * Bytes in use by this process, inside V8 and outside, after garbage collection.
 *
 * @param limit at or below it, the result may include garbage: a collection takes as long as a whole test
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
 * Waits until the process stops allocating because the read-ahead has reached its limit or has read everything, and
 * returns {@link heldBytes}. Polls without forcing garbage collection: without new objects, the figures don't grow,
 * whether or not the engine collects garbage.
 */
export async function steadyBytes(limit: number): Promise<number> {
  let last = allocated();
  for (let quiet = 0, looks = 0; quiet < 3 && looks < 50; looks++) {
    await wait(100);
    const now = allocated();
    quiet = now > last + 256 * 1024 ? 0 : quiet + 1;
    last = now;
  }
  // The second call may free what the first one left.
  return Math.min(await heldBytes(limit), await heldBytes(limit));
}

function allocated(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
