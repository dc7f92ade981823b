import { Problem } from '../../lib/problem.ts';
import { instantText } from '../../lib/time-text.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import { loginText } from './account.ts';

export const onHold = 'LOGIN_ON_HOLD';

/** The login of a source was refused, and it is not sent again for now. */
export function holdProblem(source: string, hold: LoginHoldRow): Problem {
  return new Problem({
    code: onHold,
    family: 'login',
    message: `Login refused at ${loginText(hold)}; it is on hold, so that the account is not locked`,
    where: { source },
    seen: `${hold.code}: ${hold.message}`,
    allowed: retryText(hold),
    next: resumeAdvice(source),
  });
}

/** When a login on hold is tried again. */
export function retryText({ retry_at: at }: Pick<LoginHoldRow, 'retry_at'>): string {
  return at === null ? 'not tried again by itself' : `tried again at ${instantText(at)}`;
}

/** What a person does about it. */
export const resumeAdvice = (source: string): string =>
  `correct the credentials of source ${source}, then sluice reload; if they are right: sluice sources resume ${source}`;
