/**
 * Exponential backoff: `firstMs`, doubled with each try before this one, `maxMs` at most.
 * @param tries How many attempts failed before the pause, from 0 on.
 * @returns Milliseconds. Callers that must not come back together add jitter.
 */
export function exponentialMs(tries: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(tries, 30));
}
