import { Problem, seenIn } from '#sdk';
import { meaningOfStatus } from './api-problems.ts';
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
} from './server-problems.ts';

/** An exception that the server sent, in a response of its own or after rows. */
export class ClickhouseException extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The exception in a text from the server; undefined if there's none. */
export function exceptionIn(text: string): ClickhouseException | undefined {
  const [, code, message = ''] = /(?:^|\s)Code: (\d+)\. ([\s\S]*)/.exec(text) ?? [];
  if (code === undefined) return undefined;
  // The version, and what newer servers write after an exception that comes after rows.
  const [words = ''] = message.split(/\s*\(version [^)]|\s__exception__/);
  return new ClickhouseException(Number(code), words.replace(/^DB::(?:Net)?Exception: /, '').trim());
}

/** https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const rules: readonly ErrorNumbers[] = [
  { errors: [516, 194, 193, 192], ...passwordRefused },
  { errors: [81, 291], ...noDatabase },
  { errors: [497], ...permissionDenied },
  {
    errors: [195],
    family: 'config',
    code: 'DB_HOST_REFUSED',
    next: "allow this address in the server's settings of the user",
  },
  {
    errors: [164],
    family: 'job',
    code: 'DB_WRITE_REFUSED',
    next: 'use a query that only reads data, because sources are read-only',
  },
  {
    errors: [115],
    family: 'config',
    code: 'DB_SESSION_SETTING',
    next: 'use a newer server (23.3 or later), or correct the setting in `session`',
  },
  {
    errors: [159, 160, 394],
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: "make the query faster, or raise the source's statement_timeout_seconds or the server's limit for this user",
  },
  {
    errors: [158, 191, 241, 307, 396],
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: "raise the limit that the server's message names, or make the query smaller",
  },
  {
    errors: [456, 457],
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: 'set one parameter for each placeholder ({p1:String}, {p2:UInt64} …)',
  },
  // Transient errors: quotas, too many queries, shutdown, lost replicas, Keeper, and networks between servers.
  { errors: [201, 202, 203, 209, 210, 225, 236, 242, 279, 286, 373, 999], ...serverBusy },
];

/** The user's profile has `readonly = 1`, with which a query can't choose how values are written. */
const settingsLocked: ErrorMeaning = {
  family: 'config',
  code: 'DB_SESSION_SETTING',
  next: 'let the user change settings of its queries: alter user … settings readonly = 2, with which it still cannot write',
};

type Where = Omit<Circumstances, 'hasTls' | 'hasCertificate'>;

/** Converts an exception of the server or an error of the connection to a problem. */
export function clickhouseProblem(thrown: unknown, where: Where): Problem {
  const { place, connectSeconds, isConnected } = where;
  if (thrown instanceof Problem) return thrown;
  if (!(thrown instanceof ClickhouseException)) {
    if (seenIn(thrown).code === 'UND_ERR_CONNECT_TIMEOUT') return connectTimeout(place, connectSeconds);
    return isConnected ? connectionLost(place, thrown) : neverConnected(place, thrown);
  }
  const { code: number, message: serverMessage } = thrown;
  const { isLoginRefused = false, ...meaning } = meaningOf(thrown, isConnected);
  return serverProblem({
    ...meaning,
    place,
    serverMessage,
    seen: `error ${number}`,
    isLoginRefused: isLoginRefused && !isConnected,
    cause: thrown,
  });
}

function meaningOf({ code, message }: ClickhouseException, isConnected: boolean): ErrorMeaning {
  if (code === 164 && /cannot modify/i.test(message)) return settingsLocked;
  // The memory of all queries together.
  if (code === 241 && message.includes('(total)')) return serverBusy;
  return rules.find(({ errors }) => errors.includes(code)) ?? otherwise(isConnected);
}

/** The problem for a response with an error status that isn't from ClickHouse, but from a proxy. */
export function proxyProblem(status: number, text: string, place: string): Problem {
  const meaning = status === 401 || status === 403 ? loginRefused : meaningOfStatus(status, false);
  return serverProblem({ ...meaning, place, serverMessage: `status ${status}`, seen: text });
}
