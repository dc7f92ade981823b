import { instantText } from '../../lib/time-text.ts';
import type { RetryRow } from '../../state/tables.ts';

/** Describes the next attempt of a run that failed with a transient error. Times are epoch milliseconds. */
export interface NextAttempt {
  /** The run that is retried. */
  readonly run: string;
  /** Start of the first attempt. */
  readonly since: number;
  /** The number of the next attempt. */
  readonly attempt: number;
  readonly at: number;
  /** No attempt begins at or after this time. */
  readonly until: number;
  /** A description for users, such as `tries again at 2026-11-23 19:04:30Z (attempt 2)`. */
  readonly message: string;
}

export function nextAttempt(
  { run, since, attempt: failed, next_at: at, until }: RetryRow,
  { now, isRunning, hasDaemon }: { now: number; isRunning: boolean; hasDaemon: boolean },
): NextAttempt {
  const attempt = failed + 1;
  const facts = { run, since, attempt, at, until };
  if (isRunning) return { ...facts, message: `attempt ${attempt} is running` };
  if (!hasDaemon) return { ...facts, message: `tries again when the daemon runs (attempt ${attempt})` };
  const when = at > now ? `at ${instantText(at)}` : 'when its turn comes';
  return { ...facts, message: `tries again ${when} (attempt ${attempt})` };
}
