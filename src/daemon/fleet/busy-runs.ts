import { type Clock, localOf } from '../../lib/clock.ts';
import type { BusyWait } from '../../state/runs/fleet-runs.ts';

/**
 * How long a run waits for its busy job, in milliseconds. It's longer than the time after which a process notices that
 * another one is dead, even if it has just started.
 */
export const maxBusyMs = 20_000;
/** The pause between two tries, in milliseconds. */
export const busyRestMs = 1_000;
/**
 * How much of the time between two tries counts at most, in milliseconds. The tries may be made by different processes,
 * so it's measured with the server's clock. That clock can be set, also by a failover to another server, which then
 * changes the wait by no more than this.
 */
const maxStepMs = 2 * busyRestMs;

/**
 * Decides whether a run that found its job busy is tried again. The job may belong to a process that is dead or has
 * lost the run, and processes notice this at different times. If the run ended at once, its firing would be lost. All
 * processes count the same wait, which is stored with the run.
 */
export class BusyRuns {
  readonly #clock: Clock;
  /** When this process last found each job busy, on its own clock. */
  readonly #foundAt = new Map<string, number>();

  /** @param clock the state's clock */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records that a run found its job busy. Returns the run's wait, or undefined if it has waited long enough.
   * `connectedMs`: how long this process has been able to use the state. Until that is long enough too, it can't know
   * whether the process that has the job is dead.
   */
  wait({ job, busy_ms, busy_at }: { readonly job: string } & BusyWait, connectedMs: number): BusyWait | undefined {
    this.#foundAt.set(job, this.#ownNow());
    const now = Math.round(this.#clock.now());
    const stepMs = Math.min(Math.max(0, now - (busy_at ?? now)), maxStepMs);
    const waited = { busy_ms: busy_ms + stepMs, busy_at: now };
    return Math.min(waited.busy_ms, connectedMs) < maxBusyMs ? waited : undefined;
  }

  /** The jobs whose runs aren't tried now. */
  resting(): string[] {
    const now = this.#ownNow();
    for (const [job, foundAt] of this.#foundAt) if (now - foundAt >= busyRestMs) this.#foundAt.delete(job);
    return [...this.#foundAt.keys()];
  }

  #ownNow(): number {
    return localOf(this.#clock).monotonic();
  }
}
