import { spentLimit } from '../../lib/passing-answer.ts';

/** However late a server says that its limit is reset: after this long we ask again. */
const maxPauseMs = 2 * 60_000;
/** Where nothing is left and no reset is told. */
const defaultPauseMs = 1000;

/**
 * Milliseconds to wait before the next request because the headers of a good answer say that none is left; 0 if there is more, or
 * nothing is said.
 */
export function rateLimitPauseMs(headers: Parameters<typeof spentLimit>[0], now: number): number {
  const spent = spentLimit(headers, now);
  return spent === undefined ? 0 : Math.min(maxPauseMs, spent.resetMs ?? defaultPauseMs);
}
