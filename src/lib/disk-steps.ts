const steps = new Int32Array(new SharedArrayBuffer(4));

/**
 * Greater than zero while the main thread waits for the disk in a synchronous step, such as a commit. It lets the
 * watchdog thread distinguish a slow disk from a source that blocks the event loop.
 */
export const diskSteps: ArrayBufferLike = steps.buffer;

/** Runs a step that may block until the disk responds. */
export function inDiskStep<T>(work: () => T): T {
  Atomics.add(steps, 0, 1);
  try {
    return work();
  } finally {
    Atomics.sub(steps, 0, 1);
  }
}
