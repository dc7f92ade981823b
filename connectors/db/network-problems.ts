import { networkWords, Problem, seenIn } from '#sdk';

/** Converts a network or TLS error to a problem. Returns undefined for any other error. */
export function networkProblem(thrown: unknown, place: string): Problem | undefined {
  const { code, message } = seenIn(thrown);
  const because = networkWords[code];
  if (because !== undefined) return unreachable({ place, because, seen: message, cause: thrown });
  const isFile = socketWords[code] !== undefined;
  if (isFile) return unreachable({ place, because: socketWords[code]!, what: 'path', seen: message, cause: thrown });
  return isTls(code, message) ? tlsRefused({ place, seen: message, cause: thrown }) : undefined;
}

/** A Unix socket is a file. */
const socketWords: Readonly<Record<string, string>> = {
  ENOENT: 'the socket does not exist',
  EACCES: 'permission denied on the socket',
};

/** The problem to report if the connection was never established. */
export function neverConnected(place: string, thrown: unknown): Problem {
  const because = 'the connection was closed before the login was complete';
  return networkProblem(thrown, place) ?? unreachable({ place, because, seen: seenIn(thrown).message, cause: thrown });
}

function isTls(code: string, message: string): boolean {
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_|^ERR_SSL_|^ERR_OSSL_|^HANDSHAKE_|EPROTO/.test(code);
  return certificate || /does not support (SSL|secure)|establishing an SSL/i.test(message);
}

interface Seen {
  readonly place: string;
  readonly seen: string;
  readonly cause: unknown;
}

interface Unreachable extends Seen {
  readonly because: string;
  /** What may be wrong in the options. */
  readonly what?: string;
}

function unreachable({ place, because, what = 'host and port', seen, cause }: Unreachable): Problem {
  return new Problem({
    code: 'DB_UNREACHABLE',
    family: 'try_later',
    message: `cannot connect to the database at ${place}: ${because}`,
    seen,
    next: `check the ${what}, and that the server is running; then run \`sluice check --connect\``,
    cause,
  });
}

/** The TLS handshake failed, or the server's certificate isn't trusted. */
export function tlsRefused({ place, seen, cause }: Seen): Problem {
  return new Problem({
    code: 'DB_TLS_REFUSED',
    family: 'config',
    message: `cannot establish a trusted TLS connection to ${place}`,
    seen,
    next: 'fix the tls options: set mode to verify, ca_file to the CA certificate and servername to the name in the server certificate; to encrypt without verifying the server, set tls: { mode: require, verify: false }',
    cause,
  });
}

/** The login didn't finish within the source's connect timeout. */
export function connectTimeout(place: string, seconds: number): Problem {
  return new Problem({
    code: 'DB_CONNECT_TIMEOUT',
    family: 'try_later',
    message: `connection timed out: the database at ${place} did not respond within ${seconds} s`,
    next: 'check the host, the port and the firewall, or raise connect_timeout_seconds',
  });
}

/** The connection was lost while the server was sending rows, so the result is incomplete. */
export function connectionLost(place: string, cause: unknown): Problem {
  const { code, message } = seenIn(cause);
  const because = networkWords[code] === undefined ? '' : `: ${networkWords[code]}`;
  return new Problem({
    code: 'DB_CONNECTION_LOST',
    family: 'try_later',
    message: `the connection to ${place} was lost before the result was complete${because}`,
    seen: message,
    next: "if this persists, check the server's log and any proxies or firewalls that may close connections",
    cause,
  });
}
