/** Parameters of a backoff. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Multiplier from one wait to the next; default: 2. */
  readonly factor?: number;
  /**
   * The random fraction of a wait, which keeps clients that failed together from retrying together: 0 (default) for a
   * single client, 0.5 for equal jitter, 1 for full jitter.
   * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
   */
  readonly jitter?: number;
}

/**
 * Exponential backoff with jitter: `firstMs` after the first failure, longer after each subsequent one, at most
 * `maxMs`.
 * @param tries number of previous waits
 * @param random returns a number in [0, 1)
 * @returns milliseconds
 */
export function exponentialMs(tries: number, backoff: Backoff, random: () => number = Math.random): number {
  const { firstMs, maxMs, factor = 2, jitter = 0 } = backoff;
  const span = Math.min(maxMs, firstMs * factor ** Math.min(tries, 100));
  return jitter === 0 ? span : span * (1 - jitter + jitter * random());
}
