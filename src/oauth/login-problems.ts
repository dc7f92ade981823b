import type { Login } from '../config/config.ts';
import { Problem } from '../lib/problem.ts';
import { instantText } from '../lib/time-text.ts';
import type { LoginRow } from '../state/tables.ts';
import type { TokenRefusal } from './refusal.ts';

/** The command that fixes login problems. Callers that know the source insert its name. */
export const loginCommand = (source: string): string => `sluice login ${source}`;

/** No one has logged in yet, or the vendor has ended the grant. */
export function needsLogin({ name }: Login, row?: LoginRow): Problem {
  const before =
    row === undefined ? undefined : `${row.message ?? 'the vendor ended it'} (${row.code ?? 'LOGIN_ENDED'})`;
  return new Problem({
    code: 'LOGIN_NEEDED',
    family: 'login',
    message:
      row === undefined
        ? `No one has logged in for "${name}" yet`
        : `The "${name}" login has ended: a person must log in again`,
    seen: before,
    next: loginCommand(name),
  });
}

/** The token has expired, and the vendor issues no refresh tokens. */
export function tokenEnded({ name }: Login, { expires_at, renewed_at }: LoginRow): Problem {
  const ended = expires_at === null ? 'the vendor refuses it' : `it expired at ${instantText(expires_at)}`;
  return new Problem({
    code: 'LOGIN_ENDED',
    family: 'login',
    message: `The token of the "${name}" login has expired, and this vendor issues a new one only after a person has logged in`,
    seen: `issued at ${instantText(renewed_at)}; ${ended}`,
    next: loginCommand(name),
  });
}

/** The grant has ended. If an earlier renewal never got a response, that's the likely cause. */
export function endedByVendor(login: Login, refusal: TokenRefusal, row: LoginRow | undefined): Problem {
  const alone = login.grant !== 'authorization_code';
  const lost = row !== undefined && row.asked_at !== null && login.description.refresh === 'rotating';
  return new Problem({
    code: lost ? 'LOGIN_LOST' : 'LOGIN_ENDED',
    family: 'login',
    message: lost
      ? `The refresh token of the "${login.name}" login was used up at ${instantText(row.asked_at!)} by a request whose response was lost`
      : `The vendor no longer accepts the "${login.name}" login`,
    seen: seenOf(refusal),
    // After a refusal, a person's grant isn't sent again until that person logs in again, so it needn't be put on hold.
    isLoginRefused: alone && refusal.isOfLogin,
    next: alone ? "check the login's credentials in the config, and this machine's clock" : loginCommand(login.name),
  });
}

/** The vendor refused the app, not the person: the grant is kept, and works again once the config is fixed. */
export function clientRefused({ name }: Login, refusal: TokenRefusal): Problem {
  return new Problem({
    code: 'LOGIN_CLIENT',
    family: 'login',
    message: `The vendor refused the app of the "${name}" login; the login is still valid`,
    seen: seenOf(refusal),
    isLoginRefused: refusal.isOfLogin,
    next: 'compare client_id, client_secret, scopes and grant in "login" with the app that is registered with the vendor',
  });
}

/** The vendor returned an unknown error, which never ends a login. */
export function oddRefusal({ name }: Login, refusal: TokenRefusal): Problem {
  return new Problem({
    code: 'LOGIN_REFUSED',
    family: 'job',
    message: `The vendor issued no token for the "${name}" login; the login is still valid`,
    seen: seenOf(refusal),
    next:
      refusal.next ??
      'wait for the next run, which tries again; if this persists, check the app that is registered with the vendor',
  });
}

/** The vendor's error code, with its description if there is one. */
function seenOf({ error, message }: TokenRefusal): string {
  return message === error ? error : `${error}: ${message}`;
}
