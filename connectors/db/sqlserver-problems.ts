import { Problem, seenIn } from '#sdk';
import { connectionLost, connectTimeout, networkProblem, neverConnected, tlsRefused } from './network-problems.ts';
import { type Circumstances, type ErrorNumbers, queryFailed, serverProblem, type Verdict } from './server-problems.ts';

interface ServerError {
  readonly code?: string;
  readonly number?: number;
  readonly cause?: unknown;
}

/** One table from error number to what happens next. https://learn.microsoft.com/sql/relational-databases/errors-events/ */
const rules: readonly ErrorNumbers[] = [
  {
    errors: [18456],
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source',
    isLoginRefused: true,
  },
  {
    errors: [18401, 18450, 18452, 18461, 18470, 18486, 18487, 18488],
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source',
  },
  { errors: [4060, 911], family: 'config', code: 'DB_NO_DATABASE', next: 'mend the option database' },
  {
    errors: [
      1204, 1205, 1222, 3960, 701, 802, 6005, 9002, 10928, 10929, 17809, 40197, 40501, 40540, 40613, 49918, 49919,
      49920,
    ],
    family: 'try_later',
    code: 'DB_SERVER_BUSY',
    next: 'the run is tried again',
  },
  {
    errors: [1033, 156],
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: 'with cursor or chunks the query stands in brackets: leave out order by, and write subqueries instead of with',
  },
];

interface Login extends Circumstances {
  /** The number of the first error that the server answered the login with; tedious keeps it to itself. */
  readonly loginError?: number | undefined;
}

/** Whatever tedious threw, as a problem. */
export function sqlserverProblem(thrown: unknown, given: Login): Problem {
  const { place, connectSeconds, isConnected, loginError } = given;
  if (thrown instanceof Problem) return thrown;
  const { code, cause, ...error } = (thrown ?? {}) as ServerError;
  const number = error.number ?? (code === 'ELOGIN' ? loginError : undefined);
  const { message } = seenIn(thrown);
  if (number !== undefined) {
    const verdict: Verdict = rules.find(({ errors }) => errors.includes(number)) ?? queryFailed;
    const { family, code: name, next } = verdict;
    const isLoginRefused = verdict.isLoginRefused === true && !isConnected;
    const seen = `error ${number}`;
    return serverProblem({ place, said: message, family, code: name, next, seen, isLoginRefused, cause: thrown });
  }
  if (code === 'ETIMEOUT' && /^Timeout: Request/.test(message)) return timedOut(place, thrown);
  if (code === 'ETIMEOUT') return connectTimeout(place, connectSeconds);
  if (code === 'EENCRYPT' || /encryption/i.test(message)) return tlsRefused({ place, seen: message, cause: thrown });
  if (code === 'ELOGIN') return refused(place, thrown);
  if (isConnected) return connectionLost(place, cause ?? thrown);
  return networkProblem(cause, place) ?? neverConnected(place, thrown);
}

function timedOut(place: string, cause: unknown): Problem {
  return serverProblem({
    place,
    said: seenIn(cause).message,
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: 'raise statement_timeout_seconds or make the query faster',
    cause,
  });
}

function refused(place: string, cause: unknown): Problem {
  return serverProblem({
    place,
    said: seenIn(cause).message,
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source',
    cause,
  });
}
