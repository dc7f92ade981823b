import { redact } from '../../lib/redact.ts';

/** Why a run ended, or why it's waiting for its next attempt. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly seen?: string | undefined;
  readonly next?: string | undefined;
}

/**
 * Returns the columns that record why a run failed. The message includes the value that was seen, because the history
 * may be read when no other information is left. All text is redacted.
 */
export function failureColumns(why: RunFailure | undefined): {
  code: string | null;
  message: string | null;
  next: string | null;
} {
  if (why === undefined) return { code: null, message: null, next: null };
  const { code, message, seen, next } = why;
  const fullMessage = seen === undefined || message.includes(seen) ? message : `${message} (${seen})`;
  return { code, message: redact(fullMessage), next: next === undefined ? null : redact(next) };
}
