import { Problem } from '../../lib/problem.ts';
import { instantText } from '../../lib/time-text.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import { loginText } from './account.ts';

export const onHold = 'LOGIN_ON_HOLD';

/** The problem that a source's login was refused and is on hold. */
export function holdProblem(source: string, hold: LoginHoldRow): Problem {
  return new Problem({
    code: onHold,
    family: 'login',
    message: `Login refused at ${loginText(hold)}; the login is on hold to prevent an account lockout`,
    where: { source },
    seen: `${hold.code}: ${hold.message}`,
    allowed: retryText(hold),
    next: resumeAdvice(source),
  });
}

/** Describes when the login on hold will be tried again. */
export function retryText({ retry_at: at }: Pick<LoginHoldRow, 'retry_at'>): string {
  return at === null ? 'not retried automatically' : `next attempt at ${instantText(at)}`;
}

/** Advises the user how to fix the login. */
export const resumeAdvice = (source: string): string =>
  `fix the credentials of source ${source} (if a daemon is running, then run "sluice reload"); if they were already correct: sluice sources resume ${source}`;
