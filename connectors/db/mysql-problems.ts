import { Problem, seenIn } from '#sdk';
import { connectionLost, connectTimeout, neverConnected } from './network-problems.ts';
import { type Circumstances, type ErrorNumbers, queryFailed, serverProblem, type Verdict } from './server-problems.ts';

interface ServerError {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
}

/**
 * One table from error number to what happens next. https://mariadb.com/kb/en/mariadb-error-codes/ and
 * https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
 */
const rules: readonly ErrorNumbers[] = [
  {
    errors: [1045],
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source',
    isLoginRefused: true,
  },
  {
    errors: [1044, 1251, 1396, 1524, 1698, 1820, 1862, 3118, 3955, 4151],
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source',
  },
  { errors: [3159], family: 'config', code: 'DB_TLS_REQUIRED', next: 'set tls: { mode: verify } on the source' },
  { errors: [1049], family: 'config', code: 'DB_NO_DATABASE', next: 'mend the option database' },
  {
    errors: [1792, 1836, 1290],
    family: 'job',
    code: 'DB_WRITE_REFUSED',
    next: 'a source is only read: write a query that changes nothing',
  },
  {
    errors: [1210, 1243, 1390],
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: 'give one parameter for each ? of the query',
  },
  {
    errors: [1317, 1969, 3024, 1028],
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: 'raise statement_timeout_seconds or make the query faster',
  },
  {
    // Too many connections, shutdown, out of memory or disk, blocked host, lock wait, deadlock, killed, table altered
    // behind the snapshot, network trouble.
    errors: [
      1021, 1037, 1038, 1040, 1041, 1053, 1077, 1078, 1079, 1129, 1135, 1203, 1205, 1213, 1226, 1412, 1927, 3168, 4031,
    ],
    family: 'try_later',
    code: 'DB_SERVER_BUSY',
    next: 'the run is tried again',
  },
  {
    errors: [1152, 1153, 1158, 1159, 1160, 1161, 1184],
    family: 'try_later',
    code: 'DB_CONNECTION_LOST',
    next: 'the run is tried again',
  },
];

/** Whatever mysql2 threw, as a problem. */
export function mysqlProblem(thrown: unknown, { place, connectSeconds, isConnected }: Circumstances): Problem {
  if (thrown instanceof Problem) return thrown;
  const { errno, sqlState, sqlMessage, code: name } = (thrown ?? {}) as ServerError;
  if (name === 'AUTH_SWITCH_PLUGIN_ERROR') return loginRefused(thrown, place);
  if (typeof errno !== 'number' || sqlMessage === undefined) {
    if (seenIn(thrown).message === 'connect ETIMEDOUT') return connectTimeout(place, connectSeconds);
    return isConnected ? connectionLost(place, thrown) : neverConnected(place, thrown);
  }
  const verdict: Verdict = rules.find(({ errors }) => errors.includes(errno)) ?? queryFailed;
  const { family, code, next } = verdict;
  const isLoginRefused = verdict.isLoginRefused === true && !isConnected;
  const seen = `error ${errno}${sqlState ? `, SQLSTATE ${sqlState}` : ''}`;
  return serverProblem({ place, said: sqlMessage, family, code, next, seen, isLoginRefused, cause: thrown });
}

function loginRefused(thrown: unknown, place: string): Problem {
  return serverProblem({
    place,
    said: seenIn(thrown).message,
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source; some kinds of login need TLS',
    cause: thrown,
  });
}
