import { Problem, type ProblemOptions } from '#sdk';

/** Classification of a server error. */
export interface ErrorMeaning {
  readonly family: 'config' | 'login' | 'try_later' | 'job';
  readonly code: string;
  readonly next: string;
  /** Whether the server rejected the user or the password. */
  readonly isLoginRefused?: boolean;
}

/** An entry in the error table of a server that uses error numbers. */
export interface ErrorNumbers extends ErrorMeaning {
  readonly errors: readonly number[];
}

/** The meaning of a query error that isn't in the table. */
const queryFailed: ErrorMeaning = {
  family: 'job',
  code: 'DB_QUERY_FAILED',
  next: "fix the query; the server's message says where the error is",
};

/** The meaning of an error before the login that isn't in the table. At that point, no query has been sent. */
const connectRefused: ErrorMeaning = {
  family: 'job',
  code: 'DB_CONNECT_REFUSED',
  next: 'fix the cause that the server reports; it refused the connection before any query was sent',
};

/** The meaning of an error that isn't in any table. */
export function otherwise(isConnected: boolean): ErrorMeaning {
  return isConnected ? queryFailed : connectRefused;
}

/** The error for a request that the server may accept if it's retried later. */
export const serverBusy: ErrorMeaning = {
  family: 'try_later',
  code: 'DB_SERVER_BUSY',
  next: 'nothing to do: Sluice retries the run automatically',
};

/** The login is valid, but the database doesn't exist or this user may not access it. */
export const noDatabase: ErrorMeaning = {
  family: 'config',
  code: 'DB_NO_DATABASE',
  next: 'fix the database option, or grant this user permission to connect to the database',
};

export const tlsRequired: ErrorMeaning = {
  family: 'config',
  code: 'DB_TLS_REQUIRED',
  next: 'set tls: { mode: verify } on the source',
};

export const noCertificate: ErrorMeaning = {
  family: 'config',
  code: 'DB_CLIENT_CERTIFICATE',
  next: 'set cert_file and key_file of the tls option to a certificate for this user and its key',
};

export const loginRefused: ErrorMeaning = {
  family: 'login',
  code: 'DB_LOGIN_REFUSED',
  next: "check the source's user and password",
};

/** The query is valid, but this user may not read everything that it names. */
export const permissionDenied: ErrorMeaning = {
  family: 'job',
  code: 'DB_QUERY_FAILED',
  next: 'grant this user permission to read what the message names (grant select on …), or fix the query',
};

/** The server rejected the password. */
export const passwordRefused: ErrorMeaning = { ...loginRefused, isLoginRefused: true };

/** Facts about the connection that are needed to describe a problem. */
export interface Circumstances {
  /** The server's name in messages. */
  readonly place: string;
  /** Connect timeout of the source. */
  readonly connectSeconds: number;
  /** Whether the login succeeded. */
  readonly isConnected: boolean;
  /** The connection is encrypted. */
  readonly hasTls: boolean;
  /** A client certificate is set. */
  readonly hasCertificate: boolean;
}

/** Converts a server's error to a Problem. The server returned the error in response to a login or a statement. */
export function serverProblem(
  init: Omit<ProblemOptions, 'message'> & { place: string; serverMessage: string },
): Problem {
  const { place, serverMessage, ...rest } = init;
  return new Problem({ ...rest, message: `the database at ${place} returned an error: ${serverMessage}` });
}
