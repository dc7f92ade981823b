const steps = new Int32Array(new SharedArrayBuffer(4));

/**
 * Above zero while the main thread waits for the disk in a step of its own, such as a commit. A thread that watches the event loop
 * tells by this whether the disk blocks it, or something that reads a source.
 */
export const diskSteps: ArrayBufferLike = steps.buffer;

/** Does something that may block until the disk answers. */
export function inDiskStep<T>(work: () => T): T {
  Atomics.add(steps, 0, 1);
  try {
    return work();
  } finally {
    Atomics.sub(steps, 0, 1);
  }
}
