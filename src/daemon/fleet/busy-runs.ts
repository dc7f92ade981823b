import type { Clock } from '../../lib/clock.ts';

/**
 * How long a run waits for its busy job, in milliseconds. It's longer than the time after which this process notices
 * that another one is dead, even if this process has just started.
 */
export const maxBusyMs = 20_000;
/** The pause between two tries, in milliseconds. */
export const busyRestMs = 1_000;

interface BusyRun {
  readonly job: string;
  readonly since: number;
  lastAt: number;
}

/**
 * Decides whether a run that found its job busy is tried again. The job may belong to a process that is dead or has
 * lost the run, and processes notice this at different times. If the run ended at once, its firing would be lost.
 */
export class BusyRuns {
  readonly #clock: Clock;
  readonly #byId = new Map<string, BusyRun>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that a run found its job busy. Returns false if it has waited long enough. */
  isToWait({ id, job }: { readonly id: string; readonly job: string }): boolean {
    const now = this.#clock.monotonic();
    const known = this.#byId.get(id);
    // The server's clock can be set back.
    const run = known !== undefined && known.lastAt <= now ? known : { job, since: now, lastAt: now };
    run.lastAt = now;
    this.#byId.set(id, run);
    return now - run.since < maxBusyMs;
  }

  /** The jobs whose runs aren't tried now. */
  resting(): string[] {
    const now = this.#clock.monotonic();
    // Other processes may have taken the run in the meantime.
    for (const [id, { lastAt }] of this.#byId) if (Math.abs(now - lastAt) > maxBusyMs) this.#byId.delete(id);
    return [...this.#byId.values()].filter(({ lastAt }) => now - lastAt < busyRestMs).map(({ job }) => job);
  }
}
