import { redact } from '../../lib/redact.ts';

/** Why a run ended, or waits for its next attempt. */
export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly seen?: string | undefined;
  readonly next?: string | undefined;
}

/**
 * The run columns that record the failure: redacted, with the value seen, because the history is read when nothing else
 * is available.
 */
export function failureColumns(why: RunFailure | undefined): {
  code: string | null;
  message: string | null;
  next: string | null;
} {
  if (why === undefined) return { code: null, message: null, next: null };
  const { code, message, seen, next } = why;
  const said = seen === undefined || message.includes(seen) ? message : `${message} (${seen})`;
  return { code, message: redact(said), next: next === undefined ? null : redact(next) };
}
