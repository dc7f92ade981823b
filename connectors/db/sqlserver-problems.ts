import { Problem, seenIn } from '#sdk';
import { connectionLost, connectTimeout, networkProblem, neverConnected, tlsRefused } from './network-problems.ts';
import {
  type Circumstances,
  type ErrorMeaning,
  type ErrorNumbers,
  loginRefused,
  noDatabase,
  otherwise,
  passwordRefused,
  serverBusy,
  serverProblem,
} from './server-problems.ts';

interface ServerError {
  readonly code?: string;
  readonly number?: number;
  readonly cause?: unknown;
}

/** Classification by error number. https://learn.microsoft.com/sql/relational-databases/errors-events/ */
const rules: readonly ErrorNumbers[] = [
  { errors: [18456], ...passwordRefused },
  { errors: [18450, 18452, 18470, 18486, 18487, 18488], ...loginRefused },
  { errors: [4060, 911, 916], ...noDatabase },
  {
    errors: [40615],
    family: 'config',
    code: 'DB_HOST_REFUSED',
    next: "in the server's firewall, allow the address that the message names",
  },
  {
    // Transient errors: locks, deadlocks, snapshot conflicts, out of memory, full log or tempdb, shutdown, startup,
    // upgrade, single-user mode, Azure's limits, and a database that is being recovered, restored or moved.
    errors: [
      701, 802, 904, 921, 922, 927, 976, 978, 983, 1105, 1204, 1205, 1222, 3960, 3961, 4221, 6005, 8645, 8651, 9002,
      10928, 10929, 17142, 17187, 17188, 17189, 17197, 17809, 18401, 18451, 18461, 40143, 40166, 40197, 40501, 40540,
      40613, 41301, 41302, 41305, 41325, 41839, 42108, 42109, 49918, 49919, 49920,
    ],
    ...serverBusy,
  },
  {
    errors: [1033, 156],
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: 'remove order by, and replace each with clause with a subquery, because cursor and chunks run the query as a subquery',
  },
];

interface Login extends Omit<Circumstances, 'hasTls' | 'hasCertificate'> {
  /** Number of the server's first login error, which tedious doesn't expose. */
  readonly loginError?: number | undefined;
}

/** Converts any tedious error to a problem. */
export function sqlserverProblem(thrown: unknown, where: Login): Problem {
  const { place, connectSeconds, isConnected, loginError } = where;
  if (thrown instanceof Problem) return thrown;
  const { code, cause, ...error } = (thrown ?? {}) as ServerError;
  const number = error.number ?? (code === 'ELOGIN' ? loginError : undefined);
  const { message } = seenIn(thrown);
  if (number !== undefined) {
    const verdict: ErrorMeaning = rules.find(({ errors }) => errors.includes(number)) ?? otherwise(isConnected);
    const { family, code: name, next } = verdict;
    const isLoginRefused = verdict.isLoginRefused === true && !isConnected;
    const seen = `error ${number}`;
    return serverProblem({
      place,
      serverMessage: message,
      family,
      code: name,
      next,
      seen,
      isLoginRefused,
      cause: thrown,
    });
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
    serverMessage: seenIn(cause).message,
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: 'raise statement_timeout_seconds or make the query faster',
    cause,
  });
}

function refused(place: string, cause: unknown): Problem {
  return serverProblem({ ...loginRefused, place, serverMessage: seenIn(cause).message, cause });
}
