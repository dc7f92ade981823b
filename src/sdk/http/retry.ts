import { setTimeout as wait } from 'node:timers/promises';
import { exponentialMs } from '../../lib/backoff.ts';
import { Problem } from '../../lib/problem.ts';

const passing = { firstMs: 500, maxMs: 30_000, jitter: 1 };
/**
 * Vendors count requests over windows of 10 to 100 seconds. The pauses of three retries (the default) outlast such a
 * window: they're at least 30 s, 40 s and 40 s.
 */
const rateLimit = { firstMs: 37_500, maxMs: 50_000, jitter: 0.2 };
/** If the server asks for a longer pause than this, the run doesn't wait: it fails and is retried later. */
const maxPauseMs = 60_000;

interface RetryOptions {
  readonly retries: number;
  readonly signal: AbortSignal;
  /**
   * Maximum pause; default: one minute. If the server asks for a longer pause, or a daily limit is exhausted, the run
   * fails.
   */
  readonly maxPauseMs?: number;
  /** Called before each pause. */
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
 * Milliseconds to wait before the next attempt: the pause that the server asked for, if any. Otherwise, after a rate
 * limit, an increasing pause plus up to 25 %; after any other error, exponential backoff with full jitter.
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
