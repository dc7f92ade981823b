import { setTimeout as wait } from 'node:timers/promises';
import { exponentialMs } from '../../lib/backoff.ts';
import { Problem } from '../../lib/problem.ts';

const passing = { firstMs: 500, maxMs: 30_000, jitter: 1 };
/**
 * Vendors count requests over 10 to 100 seconds: the pauses of three retries, as is the default, outlast such a window, since they
 * are 30 s, 40 s and 40 s at least.
 */
const rateLimit = { firstMs: 37_500, maxMs: 50_000, jitter: 0.2 };
/** Who asks for a longer pause than this is asked again by the next run instead of by a run that sleeps. */
const maxPauseMs = 60_000;

interface RetryOptions {
  readonly retries: number;
  readonly signal: AbortSignal;
  /** A longer pause ends the run, and so does an exhausted daily limit; a minute unless said otherwise. */
  readonly maxPauseMs?: number;
  /** Told before each pause. */
  onPause?(problem: Problem, milliseconds: number): void;
}

/**
 * Retries `attempt` with backoff until it succeeds, fails permanently, or reaches the maximum number of retries. See
 * {@link pauseMs} for the pauses.
 */
export async function withRetries<T>(init: RetryOptions, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      init.signal.throwIfAborted();
      return await attempt();
    } catch (error) {
      init.signal.throwIfAborted();
      if (!(error instanceof Problem) || error.family !== 'try_later' || tries >= init.retries) throw error;
      const pause = pauseMs(error, tries);
      if (error.isDailyLimit || pause > (init.maxPauseMs ?? maxPauseMs)) throw error;
      init.onPause?.(error, pause);
      await pausing(pause, init.signal);
    }
  }
}

/**
 * Milliseconds before the next try: what the server asked for. Without that, after a rate limit a growing time and up to a
 * quarter of it more; after any other fault full jitter, a random share of a limit that doubles.
 */
export function pauseMs({ retryAfterMs, isRateLimit }: Problem, tries: number, random = Math.random): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  return exponentialMs(tries, isRateLimit ? rateLimit : passing, random);
}

async function pausing(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
