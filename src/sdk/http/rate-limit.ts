import { spentLimit } from '../../lib/passing-answer.ts';

/** Maximum pause, even if the server reports a later reset time. */
const maxPauseMs = 2 * 60_000;
/** Pause if no requests are left and the reset time is unknown. */
const defaultPauseMs = 1000;

/**
 * Milliseconds to wait before the next request if the headers of a successful response report an exhausted rate limit;
 * 0 if the limit isn't exhausted or isn't reported.
 */
export function rateLimitPauseMs(headers: Parameters<typeof spentLimit>[0], now: number): number {
  const spent = spentLimit(headers, now);
  return spent === undefined ? 0 : Math.min(maxPauseMs, spent.resetMs ?? defaultPauseMs);
}
