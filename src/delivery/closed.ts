import { Problem } from '../lib/problem.ts';
import { instantText } from '../lib/time-text.ts';

/** Why nothing can go to a destination now. */
export type Closed =
  | { readonly why: 'login'; readonly problem: Problem }
  | { readonly why: 'quota'; readonly until: number }
  | { readonly why: 'held'; readonly until: number }
  /** Requests without an answer may still arrive, as many as may arrive in a second. */
  | { readonly why: 'slots'; readonly until: number }
  | { readonly why: 'away'; readonly until: number; readonly problem: Problem };

/** A closed gate as a Problem; `retryAfterMs` says for how long. */
export function closedProblem(closed: Closed, destination: string, now: number): Problem {
  if (closed.why === 'login' || closed.why === 'away') return closed.problem;
  const at = instantText(closed.until);
  const rest = { where: { destination, stage: 'deliver' }, retryAfterMs: Math.max(0, closed.until - now) };
  if (closed.why === 'quota') {
    const message = `Today's requests are used up; what is owed waits until ${at}`;
    const next = 'nothing is lost; "sluice plan" shows who asks for how much, and what would make it fit';
    return new Problem({ code: 'QUOTA_SPENT', family: 'quota', message, next, ...rest });
  }
  if (closed.why === 'slots') {
    const message = `Requests that had no answer may still arrive; the next one is sent at ${at}`;
    const next = 'nothing is lost; so it is for half a minute after a process was killed while it sent';
    return new Problem({ code: 'SEND_SLOTS_BUSY', family: 'try_later', message, next, ...rest });
  }
  const message = `The service asked for quiet until ${at}`;
  return new Problem({ code: 'ACCOUNT_HELD', family: 'try_later', message, ...rest });
}
