import { readFileSync } from 'node:fs';

/** The kernel's scheduling statistics of the main thread, whose ID is the process's. */
const file = `/proc/self/task/${process.pid}/schedstat`;

/**
 * Measures how much of the time the main thread waits for a CPU because the machine is busy. Works only on Linux, and
 * from any thread.
 */
export class CpuWait {
  #last: { readonly at: number; readonly waitedMs: number } | undefined;

  /**
   * Returns the share of the time since the last call, from 0 to 1, in which the main thread didn't wait for a CPU.
   * Returns 1 on the first call and if nothing is known.
   */
  ownShare(): number {
    const last = this.#last;
    const now = { at: performance.now(), waitedMs: waitedMs() };
    this.#last = now;
    if (last === undefined || now.at <= last.at) return 1;
    return Math.min(1, Math.max(0, 1 - (now.waitedMs - last.waitedMs) / (now.at - last.at)));
  }
}

/** The time that the main thread has spent in the run queue so far: the second field, in nanoseconds. */
function waitedMs(): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
