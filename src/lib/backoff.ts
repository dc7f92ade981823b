/** How waits grow from one failure to the next. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Each wait is so many times as long as the one before it; 2 unless said otherwise. */
  readonly factor?: number;
  /**
   * The share of a wait that is random, so that those who failed together do not come back together: 0 (the default) for one who
   * is alone, 0.5 for half fixed and half random, 1 for full jitter. https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
   */
  readonly jitter?: number;
}

/**
 * Exponential backoff with jitter: `firstMs` after the first failure, longer after each further one, never more than `maxMs`.
 * @param tries How many waits there were before this one, from 0 on.
 * @param random Gives a number from 0 to below 1.
 * @returns Milliseconds.
 */
export function exponentialMs(tries: number, backoff: Backoff, random: () => number = Math.random): number {
  const { firstMs, maxMs, factor = 2, jitter = 0 } = backoff;
  const span = Math.min(maxMs, firstMs * factor ** Math.min(tries, 100));
  return jitter === 0 ? span : span * (1 - jitter + jitter * random());
}
