import type { RunRow } from '../tables.ts';

/** An attempt of a run that failed and was followed by another attempt. Times are in epoch milliseconds. */
export interface PastAttempt {
  readonly started_at: number;
  readonly ended_at: number;
  readonly code: string | null;
  readonly message: string | null;
}

/**
 * Maximum number of attempts to keep. If a run is retried for hours, only its first attempt and the newest ones are
 * kept.
 */
const maxKept = 50;

/**
 * Returns a run's attempts without the last one, oldest first. If there were too many, some attempts after the first
 * one are missing.
 */
export function pastAttempts({ past_attempts: text }: Pick<RunRow, 'past_attempts'>): readonly PastAttempt[] {
  return text === null ? [] : (JSON.parse(text) as PastAttempt[]);
}

/** Returns the new value for `runs.past_attempts` after an attempt has failed. */
export function withPastAttempt(run: Pick<RunRow, 'past_attempts'>, attempt: PastAttempt): string {
  const [first, ...others] = [...pastAttempts(run), attempt];
  return JSON.stringify([first, ...others.slice(1 - maxKept)]);
}

/**
 * Returns when a run's first attempt began, and how long all attempts took, including the time between them. `took_ms`
 * is null while the run is in progress.
 */
export function spanOf(run: Pick<RunRow, 'past_attempts' | 'started_at' | 'ended_at' | 'took_ms'>): {
  readonly started_at: number;
  readonly took_ms: number | null;
} {
  const { started_at: last, ended_at, took_ms: took } = run;
  const past = pastAttempts(run);
  const started_at = past[0]?.started_at ?? last;
  if (took !== null) return { started_at, took_ms: took + Math.max(0, last - started_at) };
  // If the run was ended while it was waiting for its next attempt, that attempt never began, and `last` is the start
  // of the previous one.
  const isGivenUp = ended_at !== null && past.at(-1)?.started_at === last;
  return { started_at, took_ms: isGivenUp ? Math.max(0, ended_at - started_at) : null };
}
