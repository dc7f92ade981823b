import { Problem } from '../lib/problem.ts';
import { instantText } from '../lib/time-text.ts';

/** Why no requests can currently be sent to a destination. */
export type Closed =
  | { readonly why: 'login'; readonly problem: Problem }
  | { readonly why: 'quota'; readonly until: number }
  | { readonly why: 'paused'; readonly until: number }
  /** All slots of a second are taken by requests that got no response but may still arrive. */
  | { readonly why: 'slots'; readonly until: number }
  | { readonly why: 'away'; readonly until: number; readonly problem: Problem };

/** Describes a closed gate as a Problem, whose `retryAfterMs` is the remaining wait. */
export function closedProblem(closed: Closed, destination: string, now: number): Problem {
  if (closed.why === 'login' || closed.why === 'away') return closed.problem;
  const at = instantText(closed.until);
  const rest = { where: { destination, stage: 'deliver' }, retryAfterMs: Math.max(0, closed.until - now) };
  if (closed.why === 'quota') {
    const message = `Today's requests are used up; unsent payloads wait until ${at}`;
    const next =
      'no data is lost; "sluice plan" shows how many requests each job needs and how to stay within the allowance';
    return new Problem({ code: 'QUOTA_SPENT', family: 'quota', message, next, ...rest });
  }
  if (closed.why === 'slots') {
    const message = `Earlier requests got no response and may still arrive; the next request will be sent at ${at}`;
    const next = 'no data is lost; the wait takes up to 30 seconds after a process was killed while it was sending';
    return new Problem({ code: 'SEND_SLOTS_BUSY', family: 'try_later', message, next, ...rest });
  }
  const message = `Rate-limited by the service until ${at}`;
  return new Problem({ code: 'ACCOUNT_PAUSED', family: 'try_later', message, ...rest });
}
