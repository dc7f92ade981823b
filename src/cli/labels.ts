import type { RunOutcome } from '../daemon/run/run-outcome.ts';
import { durationText } from '../lib/time-text.ts';

const outcomeLabels: Partial<Record<RunOutcome['state'], string>> = {
  waiting_retry: 'waiting to retry',
  waiting_quota: 'waiting for quota',
  waiting_login: 'login refused',
};

/** A run's outcome in a few words, for a progress line. */
export function outcomeLabel(state: RunOutcome['state']): string {
  return outcomeLabels[state] ?? state;
}

const waitingLabels: Readonly<Record<string, string>> = {
  QUOTA_SPENT: 'waiting for quota',
  ACCOUNT_PAUSED: 'rate-limited',
};

/** Why a payload is waiting, in a few words, by the problem's code. */
export function waitingLabel({ code, until }: { readonly code: string; readonly until?: number }, now: number): string {
  if (code === 'SEND_SLOTS_BUSY' && until !== undefined) {
    return `waiting for earlier requests without a response; sends in ${durationText(Math.max(0, until - now))}`;
  }
  return waitingLabels[code] ?? 'waiting to retry';
}
