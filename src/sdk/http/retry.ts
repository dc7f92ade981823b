import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from '../../lib/problem.ts';

const firstMs = 500;
const mostMs = 30_000;
/** Who asks for a longer pause than this is asked again by the next run instead of by a run that sleeps. */
const longestPauseMs = 60_000;

interface RetryInit {
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Who asks for a longer pause ends the run; a minute unless said otherwise. */
  readonly longestPauseMs?: number;
  /** Told before each pause. */
  onPause?(problem: Problem, milliseconds: number): void;
}

/**
 * Runs `attempt` until it succeeds, fails in a way that repeating cannot mend, or has been repeated often enough. The
 * pause is what the server asked for, or a random share of a limit that doubles ("full jitter").
 */
export async function withRetries<T>(init: RetryInit, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      init.signal.throwIfAborted();
      return await attempt();
    } catch (error) {
      init.signal.throwIfAborted();
      if (!(error instanceof Problem) || error.family !== 'try_later' || tries >= init.retries) throw error;
      const pause = pauseOf(error, tries);
      if (pause > (init.longestPauseMs ?? longestPauseMs)) throw error;
      init.onPause?.(error, pause);
      await pausing(pause, init.signal);
    }
  }
}

function pauseOf({ retryAfterMs }: Problem, tries: number): number {
  return retryAfterMs ?? Math.random() * Math.min(mostMs, firstMs * 2 ** tries);
}

async function pausing(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

/** Milliseconds that a Retry-After header asks for: seconds or an HTTP date (RFC 9110, 10.2.3). */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | undefined {
  const text = [header ?? []].flat()[0]?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return text === '' || Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
