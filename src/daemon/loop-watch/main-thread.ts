import { readFileSync } from 'node:fs';
import { lookUpProcess } from '../../lib/process-table.ts';

/**
 * Measures how much of the time the main thread runs or sleeps, as opposed to waiting for a CPU because the machine is
 * busy. Works only on Linux, and from any thread.
 */
export class MainThread {
  #lastMs = 0;

  /**
   * Returns the milliseconds since the last call, `tickMs` ago, without those in which the thread waited for a CPU.
   * Returns `tickMs` if nothing is known.
   */
  activeMs(tickMs: number): number {
    const cpuMs = cpuTimeMs();
    if (cpuMs === undefined) return tickMs;
    const used = cpuMs - this.#lastMs;
    this.#lastMs = cpuMs;
    const entry = lookUpProcess(process.pid);
    return typeof entry === 'object' && entry.isRunnable ? Math.min(tickMs, used) : tickMs;
  }
}

/** The time that the main thread has spent on a CPU: the first field, in nanoseconds. Undefined if it isn't known. */
function cpuTimeMs(): number | undefined {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}
