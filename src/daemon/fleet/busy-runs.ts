import type { Clock } from '../../lib/clock.ts';
import type { FleetRunRow } from '../../state/tables.ts';

/**
 * How long a run waits for its busy job, in milliseconds. It's longer than the time after which a process notices that
 * another one is dead, even if it has just started.
 */
export const maxBusyMs = 20_000;
/** The pause between two tries, in milliseconds. */
export const busyRestMs = 1_000;

/**
 * Decides whether a run that found its job busy is tried again. The job may belong to a process that is dead or has
 * lost the run, and processes notice this at different times. If the run ended at once, its firing would be lost. All
 * processes count the same wait, which is stored with the run.
 */
export class BusyRuns {
  readonly #clock: Clock;
  /** When this process last found each job busy. */
  readonly #foundAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records that a run found its job busy. Returns since when the run has been waiting for the job, in epoch
   * milliseconds, or undefined if it has waited long enough. `connectedMs`: how long this process has been able to use
   * the state. Until that is long enough too, it can't know whether the process that has the job is dead.
   */
  waitsSince({ job, busy_since }: Pick<FleetRunRow, 'job' | 'busy_since'>, connectedMs: number): number | undefined {
    this.#foundAt.set(job, this.#clock.monotonic());
    const now = Math.round(this.#clock.now());
    // The server's clock can be set back.
    const since = Math.min(busy_since ?? now, now);
    return Math.min(now - since, connectedMs) < maxBusyMs ? since : undefined;
  }

  /** The jobs whose runs aren't tried now. */
  resting(): string[] {
    const now = this.#clock.monotonic();
    for (const [job, foundAt] of this.#foundAt) if (Math.abs(now - foundAt) >= busyRestMs) this.#foundAt.delete(job);
    return [...this.#foundAt.keys()];
  }
}
