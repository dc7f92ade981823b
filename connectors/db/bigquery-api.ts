import { Problem, type Token } from '#sdk';
import type { ApiKind } from './api-session.ts';
import { bigqueryError, bigqueryMeaning } from './bigquery-problems.ts';
import type { LoginOptions } from './driver.ts';

/** BigQuery's API. https://cloud.google.com/bigquery/docs/reference/rest */
export function bigqueryApi({ login, server, address }: LoginOptions): ApiKind {
  if (login === undefined && server.password === undefined) throw noLogin();
  let token: Token | undefined;
  return {
    async headers() {
      token = await login?.token();
      const sent = token?.access_token ?? server.password ?? '';
      // Google compresses responses only if the name of the client contains this word.
      return { authorization: `Bearer ${sent}`, 'user-agent': `${address.applicationName} (gzip)` };
    },
    async renew() {
      if (login === undefined || token === undefined) return false;
      await login.refused(token);
      return true;
    },
    errorIn: bigqueryError,
    meaningOf: bigqueryMeaning,
  };
}

/** A URL on the command line has no login. */
function noLogin(): Problem {
  return new Problem({
    code: 'DB_LOGIN_REFUSED',
    family: 'login',
    message: 'BigQuery needs a login',
    next: 'write a source with `login`, or with an access token as the `password`; then use its name instead of a URL',
  });
}
