import { networkWords, seenIn } from '../../lib/network.ts';
import { Problem, type ProblemOptions } from '../../lib/problem.ts';
import { databaseText, type StateDatabase } from './state-database.ts';

type Meaning = Pick<ProblemOptions, 'code' | 'family' | 'message' | 'next'>;

interface Rule {
  readonly sqlstate: RegExp;
  readonly meaning: Meaning;
}

const unreachable: Meaning = {
  code: 'STATE_UNREACHABLE',
  family: 'try_later',
  message: 'Cannot reach the state database',
  next: 'check that the server is running and that this machine can reach it',
};

const refused: Meaning = {
  code: 'STATE_REFUSED',
  family: 'config',
  message: "The state database's server refused access",
  next: "check the user, the password and the database in the config's state option, and the user's privileges",
};

const untrusted: Meaning = {
  code: 'STATE_REFUSED',
  family: 'config',
  message: "Cannot establish a trusted TLS connection to the state database's server",
  next: "set sslrootcert in the config's state option to the certificate of the server's authority; if the server's certificate is for another host name, set sslmode=verify-ca, too",
};

const locked: Meaning = {
  code: 'STATE_LOCKED',
  family: 'try_later',
  message: 'The state database is locked: another transaction has held the lock for longer than 15 s',
  next: "find the transaction in the server's pg_stat_activity; Sluice itself holds the lock only briefly",
};

const readOnly: Meaning = {
  code: 'STATE_READ_ONLY',
  family: 'try_later',
  message: 'The state database is read-only',
  next: 'connect to the primary server, not to a standby',
};

const full: Meaning = {
  code: 'STATE_FULL',
  family: 'try_later',
  message: 'Disk full: the state cannot be written',
  next: "free some space on the database server's disk",
};

const damaged: Meaning = {
  code: 'STATE_DAMAGED',
  family: 'config',
  message: 'The state database is damaged',
  next: 'stop Sluice and restore a backup of the database on its server',
};

const unreadable: Meaning = {
  code: 'STATE_UNREADABLE',
  family: 'try_later',
  message: 'Disk error: the state database cannot be read or written',
  next: "check the database server's disk and its log",
};

/**
 * Classifies the server's errors by SQLSTATE (appendix A of the PostgreSQL manual). The first matching rule applies.
 * Every other error is a bug in a statement.
 */
const rules: readonly Rule[] = [
  { sqlstate: /^(28|3D000|42501|57P04)/, meaning: refused },
  { sqlstate: /^(55P03|40P01|40001|57014)/, meaning: locked },
  { sqlstate: /^25006/, meaning: readOnly },
  { sqlstate: /^53100/, meaning: full },
  { sqlstate: /^(XX001|XX002)/, meaning: damaged },
  { sqlstate: /^(58030|72000)/, meaning: unreadable },
  { sqlstate: /^(08|53|57P|58000|25P03)/, meaning: unreachable },
];

/** PgBouncer's messages about logins. Nearly all of its errors have SQLSTATE 08P01. */
const poolerRefusals = /authentication failed|no such (user|database)|does not exist|(SSL|TLS) connection required/;

/** Node's codes and the driver's messages for failed TLS handshakes. */
const tlsErrors = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_|^ERR_SSL_|^ERR_OSSL_|EPROTO|does not support SSL/;

/** The driver's messages if a connection is lost or a time limit is exceeded. They have no code. */
const driverLosses =
  /^(Connection terminated|Client has encountered|Query read timeout|timeout exceeded|timeout expired)/;

/**
 * Converts an error of the PostgreSQL driver to a Problem if the server or the network caused it. Returns any other
 * error unchanged. Neither the driver nor the server puts the password into an error.
 */
export function databaseProblem(error: unknown, database: StateDatabase): unknown {
  if (error instanceof Problem) return error;
  const { code, message } = seenIn(error);
  const meaning = isFromServer(error) ? ofServer(code, message) : ofDriver(code, message);
  if (meaning === undefined) return error;
  return new Problem({ ...meaning, seen: `${message} (${databaseText(database)})`, cause: error });
}

function ofServer(code: string, message: string): Meaning | undefined {
  if (code === '08P01' && poolerRefusals.test(message)) return refused;
  return rules.find(({ sqlstate }) => sqlstate.test(code))?.meaning;
}

function ofDriver(code: string, message: string): Meaning | undefined {
  const because = networkWords[code] ?? socketWords[code];
  if (because !== undefined) return { ...unreachable, message: `${unreachable.message}: ${because}` };
  if (tlsErrors.test(code) || tlsErrors.test(message)) return untrusted;
  if (/^SASL|password/i.test(message)) return refused;
  return driverLosses.test(message) ? unreachable : undefined;
}

/** A Unix socket is a file. */
const socketWords: Readonly<Record<string, string>> = {
  ENOENT: 'the socket does not exist',
  EACCES: 'permission denied on the socket',
};

/** Only the server's errors have a severity. */
const isFromServer = (error: unknown): boolean => (error as { severity?: unknown } | null)?.severity !== undefined;
