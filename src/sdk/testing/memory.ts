import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** A change below this number of bytes is noise. */
const noise = 256 * 1024;

/**
 * Number of bytes that this process uses, inside and outside V8, after garbage collection.
 *
 * Collects until nothing more is freed: V8 sweeps buffers in another thread, drops compiled code only after several
 * collections, and objects with finalizers need two.
 *
 * @param limit if the result is at or below this limit, it may include garbage, because a collection takes as long as a
 * whole test
 */
export async function heldBytes(limit = 0): Promise<number> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  for (let quiet = 0, passes = 0; quiet < 3 && passes < 20 && allocated() > limit; passes++) {
    const before = allocated();
    collect();
    await wait(0);
    quiet = before - allocated() > noise ? 0 : quiet + 1;
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
    quiet = now > last + noise ? 0 : quiet + 1;
    last = now;
  }
  return heldBytes(limit);
}

function allocated(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
