import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** Bytes in use by this process, inside V8 and outside, after garbage collection. */
export async function heldBytes(): Promise<number> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
  await wait(0);
  collect();
  return allocated();
}

/**
 * Waits until the process stops allocating because the read-ahead has reached its limit or has read everything, and
 * returns the bytes in use. Polls without forcing garbage collection, which would take as long as a whole test. Without
 * new objects, the figures don't grow, whether or not the engine collects garbage.
 */
export async function steadyBytes(): Promise<number> {
  let last = allocated();
  for (let quiet = 0, looks = 0; quiet < 3 && looks < 50; looks++) {
    await wait(100);
    const now = allocated();
    quiet = now > last + 256 * 1024 ? 0 : quiet + 1;
    last = now;
  }
  // The second collection may free what the first one left.
  return Math.min(await heldBytes(), await heldBytes());
}

function allocated(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
