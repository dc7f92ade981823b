import type { Outcome } from '../daemon/outcome.ts';

const words: Partial<Record<Outcome['state'], string>> = {
  waiting_retry: 'waiting to retry',
  waiting_quota: 'waiting for quota',
  waiting_login: 'login refused',
};

/** The outcome of a run, in a few words for a progress line. */
export function outcomeWords(state: Outcome['state']): string {
  return words[state] ?? state;
}

const reasons: Readonly<Record<string, string>> = {
  QUOTA_SPENT: 'waiting for quota',
  ACCOUNT_HELD: 'rate-limited',
};

/** Why a payload waits, in a few words, by the code of the problem. */
export function waitingWords(code: string): string {
  return reasons[code] ?? 'waiting to retry';
}
