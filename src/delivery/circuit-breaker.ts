import type { Clock } from '../lib/clock.ts';
import type { Problem } from '../lib/problem.ts';
import type { Closed } from './closed.ts';
import { backoffMs } from './retry.ts';

interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** Returns a number from 0 to below 1, for jitter. */
  readonly random: () => number;
}

/** Circuit breaker: holds back requests to a destination that is unreachable. */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  /** The number of consecutive failures, and the time (monotonic ms) until which requests are held back. */
  #outage: { readonly times: number; readonly until: number; readonly problem: Problem } | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Why no requests can be sent now; undefined if they can be sent. */
  closed(): Closed | undefined {
    const { clock } = this.#options;
    const awayMs = (this.#outage?.until ?? 0) - clock.monotonic();
    if (this.#outage === undefined || awayMs <= 0) return undefined;
    return { why: 'away', until: clock.now() + awayMs, problem: this.#outage.problem };
  }

  /** Half-opens the breaker: one request probes for this time whether the destination is reachable again. */
  probe(ms: number): void {
    if (this.#outage !== undefined) this.#outage = { ...this.#outage, until: this.#options.clock.monotonic() + ms };
  }

  /**
   * Holds requests back after a failure. The longer the destination is unreachable, the longer they wait. Returns the
   * wait in milliseconds.
   */
  open(problem: Problem): number {
    const now = this.#options.clock.monotonic();
    const times = (this.#outage?.times ?? 0) + 1;
    const waitMs = backoffMs(times, 0, this.#options.random);
    this.#outage = { times, until: now + waitMs, problem };
    return waitMs;
  }

  /** Lets requests pass, because the destination has responded. */
  close(): void {
    this.#outage = undefined;
  }
}
