import { readFileSync } from 'node:fs';

/** The main thread in the process table; its ID is the process's. */
const folder = `/proc/self/task/${process.pid}`;

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
    try {
      const cpuMs = cpuTimeMs();
      const used = cpuMs - this.#lastMs;
      this.#lastMs = cpuMs;
      return isRunnable() ? Math.min(tickMs, used) : tickMs;
    } catch {
      return tickMs;
    }
  }
}

/** The time that the thread has spent on a CPU: the first field, in nanoseconds. */
function cpuTimeMs(): number {
  return Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Whether the thread runs or waits for a CPU, and doesn't sleep, see proc(5). */
function isRunnable(): boolean {
  const text = readFileSync(`${folder}/stat`, 'utf8');
  // The state follows the command name, which may contain spaces and brackets.
  return text.slice(text.lastIndexOf(')') + 2).startsWith('R');
}
