import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** Bytes that this process really holds, inside of V8 and outside: what can be collected has been. */
export async function heldBytes(): Promise<number> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
  await wait(0);
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * Waits until what is held grows no more: whatever reads ahead has come to its bound, or has read everything. The least of
 * the last looks counts, since one collection may leave behind what the next one takes.
 */
export async function steadyBytes(): Promise<number> {
  let [last, least] = [await heldBytes(), Number.POSITIVE_INFINITY];
  for (let quiet = 0, looks = 0; quiet < 3 && looks < 50; looks++) {
    await wait(100);
    const now = await heldBytes();
    const grew = now > last + 64 * 1024;
    [quiet, least] = grew ? [0, now] : [quiet + 1, Math.min(least, now)];
    last = now;
  }
  return Math.min(least, last);
}
