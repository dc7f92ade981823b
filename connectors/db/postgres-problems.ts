import pg from 'pg';
import { type ConnectorLog, Problem, seenIn } from '#sdk';
import { unreadable } from './broken-protocol.ts';
import { connectionLost, neverConnected } from './network-problems.ts';
import { poolerErrorMeaning } from './pooler-problems.ts';
import { loginUnsupported } from './postgres-messages.ts';
import {
  type Circumstances,
  type ErrorMeaning,
  loginRefused,
  noCertificate,
  noDatabase,
  otherwise,
  passwordRefused,
  permissionDenied,
  serverBusy,
  serverProblem,
} from './server-problems.ts';

/**
 * The fields of an ErrorResponse that Sluice reads. https://www.postgresql.org/docs/current/protocol-error-fields.html
 */
interface ServerError {
  readonly code?: string | undefined;
  readonly position?: string | undefined;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  readonly routine?: string | undefined;
}

interface Rule extends ErrorMeaning {
  readonly sqlstate: RegExp;
}

/**
 * Classifies errors by SQLSTATE (appendix A of the PostgreSQL manual). The first matching rule applies. Transient
 * errors are connection errors, insufficient resources, shutdown and startup, disk read errors, serialization failures,
 * deadlocks and locks.
 */
const rules: readonly Rule[] = [
  {
    sqlstate: /^28P01/,
    ...passwordRefused,
    next: `${loginRefused.next}, and whether the role's password has expired (valid until)`,
  },
  { sqlstate: /^28/, ...loginRefused },
  { sqlstate: /^(3D000|57P04)/, ...noDatabase },
  {
    sqlstate: /^25006/,
    family: 'job',
    code: 'DB_WRITE_REFUSED',
    next: 'use a query that only reads data, because sources are read-only',
  },
  {
    sqlstate: /^(57014|25P04)/,
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: "make the query faster, or raise the source's statement_timeout_seconds or the server's limit for this user",
  },
  {
    sqlstate: /^53400/,
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: "raise the limit that the server's message names, or make the query smaller",
  },
  {
    sqlstate: /^(22021|22P05)/,
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: 'the server cannot convert the bytes that it names; correct them in the database, or leave them out in the query',
  },
  { sqlstate: /^42501/, ...permissionDenied },
  { sqlstate: /^(08|53|57P|58000|58030|40001|40P01|55P03|25P03|72000)/, ...serverBusy },
];

const otherParameters: ErrorMeaning = {
  family: 'job',
  code: 'DB_QUERY_FAILED',
  next: 'set one parameter for each placeholder ($1, $2 …)',
};

const manyStatements: ErrorMeaning = { ...otherParameters, next: 'use a single statement; remove the others' };

/** Methods other than a password in the database: peer, ident, LDAP, RADIUS, and PAM, with which Amazon RDS checks tokens. */
const otherMethod: ErrorMeaning = {
  ...passwordRefused,
  next: "check the source's user, and the method for it in pg_hba.conf: with peer or ident, Sluice must run as that user of the operating system; with others, the password may be wrong",
};

/** The role doesn't exist or isn't allowed to log in. The password isn't the cause. */
const roleRefused: ErrorMeaning = {
  ...loginRefused,
  next: "check the source's user; if the role exists, allow it to log in (alter role … login)",
};

type Where = Omit<Circumstances, 'connectSeconds' | 'hasCertificate'>;

/** Converts any error that pg throws to a problem. */
export function postgresProblem(thrown: unknown, where: Where): Problem {
  if (thrown instanceof Problem) return thrown;
  // Servers that imitate PostgreSQL may send errors without a SQLSTATE.
  if (!(thrown instanceof pg.DatabaseError)) return clientProblem(thrown, where);
  const error: ServerError = thrown;
  const { message } = seenIn(thrown);
  const { family, code, next, isLoginRefused = false } = verdictOn(error, message, where);
  const serverMessage = [message, error.detail, error.hint].filter(Boolean).join('; ');
  return serverProblem({
    ...{ place: where.place, serverMessage, family, code, next, seen: stateOf(error), cause: thrown },
    // Once the login has succeeded, a login error is about the query, which may log in to another server.
    isLoginRefused: isLoginRefused && !where.isConnected,
  });
}

/**
 * Errors are identified by their codes, because servers write messages in any language. Only the messages of poolers
 * are matched, because poolers always write in English.
 */
function verdictOn(error: ServerError, message: string, where: Where): ErrorMeaning {
  const { code = '', routine } = error;
  if (routine === 'exec_bind_message') return otherParameters;
  // The code is checked too, because the same routine reports with 53300 that the role has no connections left.
  if (code === '28000' && routine === 'InitializeSessionUserId') return roleRefused;
  if (code === '28000' && routine === 'auth_failed') return otherMethod;
  if (code === '42601' && routine === 'exec_parse_message') return manyStatements;
  if (routine === 'ClientAuthentication') return notAdmitted(message, where);
  const pooler = routine === undefined ? poolerErrorMeaning(code, [message, error.detail].join('; ')) : undefined;
  if (pooler !== undefined) return pooler;
  if (!where.isConnected && noAccess.test(code)) return noDatabase;
  return rules.find(({ sqlstate }) => sqlstate.test(code)) ?? otherwise(where.isConnected);
}

/**
 * The user isn't allowed to connect, or the database doesn't accept connections. If a query fails, these codes have
 * other meanings.
 */
const noAccess = /^(42501|55000)/;

/**
 * The server refused the login before it checked the password: either because of pg_hba.conf, whose name is the same in
 * every language, or because a client certificate is missing.
 */
function notAdmitted(message: string, { hasTls }: Where): ErrorMeaning {
  if (!message.includes('pg_hba.conf')) return noCertificate;
  const line = 'add a line to pg_hba.conf that allows this user to connect to this database from this address';
  const next = hasTls
    ? line
    : `${line}; if such a line exists but requires TLS, set tls: { mode: verify } on the source`;
  return { family: 'config', code: 'DB_HOST_REFUSED', next };
}

function stateOf({ code = 'none', position }: ServerError): string {
  return position === undefined ? `SQLSTATE ${code}` : `SQLSTATE ${code} at character ${position} of the query`;
}

function clientProblem(thrown: unknown, { place, isConnected }: Where): Problem {
  if (isConnected) return connectionLost(place, thrown);
  const { message } = seenIn(thrown);
  if (/^Received unexpected/.test(message)) return unreadable(thrown);
  if (/^SASL: Only mechanism/.test(message)) return loginUnsupported('a kind of SASL');
  if (!/^SASL|password/i.test(message)) return neverConnected(place, thrown);
  return new Problem({
    code: 'DB_LOGIN_REFUSED',
    family: 'login',
    message: `the database at ${place} requires a password, but none is set`,
    seen: message,
    next: 'set the password option',
    cause: thrown,
  });
}

/** Logs the server's notices for the author of the query. */
export function logNotice(log: ConnectorLog): (notice: { message: string | undefined }) => void {
  return ({ message }) => log.debug('database notice', { notice: message });
}
