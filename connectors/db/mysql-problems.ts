import { Problem, seenIn } from '#sdk';
import { connectionLost, connectTimeout, neverConnected } from './network-problems.ts';
import {
  type Circumstances,
  type ErrorMeaning,
  type ErrorNumbers,
  loginRefused,
  noDatabase,
  otherwise,
  passwordRefused,
  permissionDenied,
  serverBusy,
  serverProblem,
  tlsRequired,
} from './server-problems.ts';

interface ServerError {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
}

/**
 * Classification by error number. https://mariadb.com/kb/en/mariadb-error-codes/ and
 * https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html
 */
const rules: readonly ErrorNumbers[] = [
  { errors: [1045], ...passwordRefused },
  { errors: [3118, 4151], ...loginRefused, next: 'unlock the account: alter user … account unlock' },
  {
    errors: [1820, 1862],
    ...loginRefused,
    next: "the password has expired; set a new one: alter user … identified by '…'",
  },
  {
    errors: [3955],
    ...loginRefused,
    next: 'too many logins have failed; wait until the account is unlocked, or unlock it: alter user … account unlock',
  },
  {
    errors: [1698],
    ...loginRefused,
    next: 'this account logs in without a password, as a user of the operating system (unix_socket, auth_socket); use an account with a password',
  },
  { errors: [1251, 1396, 1524], ...loginRefused },
  { errors: [3159], ...tlsRequired },
  { errors: [1044, 1049], ...noDatabase },
  {
    errors: [1130],
    family: 'config',
    code: 'DB_HOST_REFUSED',
    next: 'create an account for this user and the address that the server reports, or for any address (%)',
  },
  {
    // The server has blocked this host after too many failed handshakes. A retry doesn't help.
    errors: [1129],
    family: 'job',
    code: 'DB_HOST_BLOCKED',
    next: 'run flush hosts or mariadb-admin flush-hosts on the server, and raise its max_connect_errors',
  },
  {
    errors: [1792, 1836, 1290],
    family: 'job',
    code: 'DB_WRITE_REFUSED',
    next: 'use a query that only reads data, because sources are read-only',
  },
  {
    errors: [1210, 1243, 1390],
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: 'set one parameter for each ? in the query',
  },
  { errors: [1142, 1143, 1227, 1370], ...permissionDenied },
  {
    errors: [1317, 1969, 3024, 1028],
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: "make the query faster, or raise the source's statement_timeout_seconds or the server's limit for this user",
  },
  {
    // Transient errors: too many connections, shutdown, out of memory or disk space, lock wait, deadlock, killed,
    // changes after the snapshot, offline mode.
    errors: [
      1020, 1021, 1037, 1038, 1040, 1041, 1053, 1077, 1078, 1079, 1135, 1203, 1205, 1206, 1213, 1226, 1412, 1637, 1927,
      3032, 3168, 3572, 4031,
    ],
    ...serverBusy,
  },
  // Errors that TiDB and ProxySQL return while their servers are unavailable or fail over.
  { errors: [9001, 9002, 9003, 9004, 9005, 9006, 9007, 9008], ...serverBusy },
  {
    errors: [1152, 1153, 1158, 1159, 1160, 1161, 1184, 2003, 2006, 2013],
    family: 'try_later',
    code: 'DB_CONNECTION_LOST',
    next: 'nothing to do: Sluice retries the run automatically',
  },
];

/**
 * SQLSTATEs of connection and serialization errors. These errors are transient regardless of their numbers. An example
 * is 1047 from a Galera node that isn't ready.
 */
const passingStates = /^(08|40001|40P01)/;

/** Converts any mysql2 error to a problem. */
export function mysqlProblem(thrown: unknown, where: Circumstances): Problem {
  const { place, connectSeconds, isConnected } = where;
  if (thrown instanceof Problem) return thrown;
  const { errno, sqlState, sqlMessage, code: name } = (thrown ?? {}) as ServerError;
  if (name === 'MYSQL_CLEAR_PASSWORD_NOT_ENABLED') return clearPasswordRefused(thrown, place);
  if (name === 'AUTH_SWITCH_PLUGIN_ERROR') return pluginRefused(thrown, where);
  if (typeof errno !== 'number' || sqlMessage === undefined) {
    if (seenIn(thrown).message === 'connect ETIMEDOUT') return connectTimeout(place, connectSeconds);
    return isConnected ? connectionLost(place, thrown) : neverConnected(place, thrown);
  }
  const verdict = verdictOn(errno, sqlState, where);
  const isLoginRefused = verdict.isLoginRefused === true && !isConnected;
  const seen = `error ${errno}${sqlState ? `, SQLSTATE ${sqlState}` : ''}`;
  const { family, code, next } = verdict;
  return serverProblem({ place, serverMessage: sqlMessage, family, code, next, seen, isLoginRefused, cause: thrown });
}

function verdictOn(errno: number, sqlState = '', where: Circumstances): ErrorMeaning {
  const found = rules.find(({ errors }) => errors.includes(errno));
  if (errno === 1045) return { ...passwordRefused, next: withCorrectPassword(where) };
  return found ?? (passingStates.test(sqlState) ? serverBusy : otherwise(where.isConnected));
}

/** The server returns the same error for a wrong password as for an account that requires TLS or a certificate. */
function withCorrectPassword({ hasTls, hasCertificate }: Circumstances): string {
  const need = hasTls ? 'a client certificate (cert_file and key_file)' : 'tls: { mode: verify }';
  const isComplete = hasTls && hasCertificate;
  return isComplete ? loginRefused.next : `${loginRefused.next}; if they are correct, the account may require ${need}`;
}

function clearPasswordRefused(cause: unknown, place: string): Problem {
  return new Problem({
    code: 'DB_TLS_REQUIRED',
    family: 'config',
    message: `the database at ${place} requires the password in clear text (mysql_clear_password), which is sent only over a verified TLS connection`,
    next: `${tlsRequired.next}, with a ca_file if the provider has its own authority`,
    cause,
  });
}

/** A driver error about an authentication plugin, which usually isn't supported. */
function pluginRefused(cause: unknown, where: Circumstances): Problem {
  const { place } = where;
  const { message } = seenIn(cause);
  const plugin = /unknown plugin (\w+)/.exec(message)?.[1];
  if (plugin === undefined) {
    return serverProblem({ ...loginRefused, place, serverMessage: message, next: withCorrectPassword(where), cause });
  }
  return new Problem({
    code: 'DB_LOGIN_KIND',
    family: 'config',
    message: `the database at ${place} requires the authentication plugin ${plugin}, which Sluice does not support`,
    allowed: 'mysql_native_password, caching_sha2_password, sha256_password, mysql_clear_password, client_ed25519',
    next: 'run alter user … identified via mysql_native_password (MariaDB) or … identified with caching_sha2_password (MySQL)',
    cause,
  });
}
