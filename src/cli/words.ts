import type { Outcome } from '../daemon/outcome.ts';

const words: Partial<Record<Outcome['state'], string>> = {
  waiting_retry: 'waiting to retry',
  waiting_quota: 'waiting for quota',
  waiting_login: 'login refused',
};

/** What a run came to, in the few words of a progress line. */
export function outcomeWords(state: Outcome['state']): string {
  return words[state] ?? state;
}

const reasons: Readonly<Record<string, string>> = {
  QUOTA_SPENT: 'waiting for quota',
  ACCOUNT_HELD: 'asked to pause',
};

/** Why a payload waits, in as few words, by the problem's code. */
export function waitingWords(code: string): string {
  return reasons[code] ?? 'waiting to retry';
}
