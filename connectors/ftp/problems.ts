import { cutText, networkWords, Problem, type ProblemOptions, seenIn } from '#sdk';

/** A problem from this connector. Its code begins with `FTP_`. */
export function make(
  code: string,
  family: ProblemOptions['family'],
  rest: Omit<ProblemOptions, 'code' | 'family'>,
): Problem {
  return new Problem({ code, family, ...rest });
}

/**
 * Matches messages from servers with too many users. The reply code alone is misleading, because it usually means a
 * wrong login.
 */
export const isFull = (words: string): boolean => /too many|maximum|busy/i.test(words);

/** The problem to report if TLS or the network makes a connection fail before the login. */
export function notConnected(thrown: unknown, place: string): Problem {
  const { code, message } = seenIn(thrown);
  if (isTls(code, message)) return tlsRefused(place, message, thrown);
  return make('FTP_UNREACHABLE', 'try_later', {
    message: `cannot connect to ${place}: ${networkWords[code] ?? 'connection failed'}`,
    seen: message,
    next: 'check the protocol, host and port, and that the server is running; then run `sluice check --connect`',
    cause: thrown,
  });
}

/** The TLS handshake failed, or the server's certificate isn't trusted. */
export function tlsRefused(place: string, seen: string, cause: unknown): Problem {
  return make('FTP_TLS_REFUSED', 'config', {
    message: `cannot establish a trusted TLS connection to ${place}`,
    seen,
    next: 'fix the tls options: set ca_file to the CA certificate and servername to the name in the server certificate; to encrypt without verifying the server, set tls: { mode: require, verify: false }; otherwise, check the protocol and the port',
    cause,
  });
}

function isTls(code: string, message: string): boolean {
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS_|^ERR_SSL_|^ERR_OSSL_|^HANDSHAKE_|EPROTO/.test(code);
  return certificate || /certificate|wrong version number|altnames/i.test(message);
}

/** The server's greeting shows that it uses another protocol. */
export function otherProtocol(place: string, { seen, protocol }: { seen: string; protocol: string }): Problem {
  return make('FTP_PROTOCOL', 'config', {
    message: `the server at ${place} uses a different protocol`,
    seen: cutText(seen, 100),
    next: `set \`protocol: ${protocol}\` on the source, or fix the port`,
  });
}

/** The server doesn't accept unencrypted logins. */
export function tlsRequired(place: string, seen: string): Problem {
  return make('FTP_TLS_REQUIRED', 'config', {
    message: `${place} requires TLS`,
    seen,
    next: 'set `protocol: ftps` on the source',
  });
}

/** In addition to user and password, the server requires an account, or a different account. */
export function accountWanted(place: string, seen: string): Problem {
  return make('FTP_ACCOUNT', 'login', {
    message: `${place} requires an account in addition to user and password`,
    seen,
    next: "set or fix the source's account option",
  });
}

/**
 * The problem to report if the SSH login succeeded but this user can't use SFTP. Returns undefined for any other error.
 */
export function noSftp(thrown: unknown, place: string): Problem | undefined {
  const { message } = seenIn(thrown);
  const [, length] = /^Packet length (\d+) exceeds/.exec(message) ?? [];
  if (length === undefined && !/start subsystem/i.test(message)) return undefined;
  return make('FTP_NO_SFTP', 'config', {
    message: `${place} does not offer SFTP to this user`,
    seen: length === undefined ? message : `text that begins with ${JSON.stringify(beginningOf(Number(length)))}`,
    next: "ask the server's administrator to allow the SFTP subsystem for this user; also check for a ForceCommand and for login scripts that print text, because both break SFTP",
  });
}

/** The first four characters of a text reply that was misinterpreted as the length of an SFTP packet. */
function beginningOf(length: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes.toString('latin1');
}

/** The login didn't finish within the source's connect timeout. */
export function connectTimeout(place: string, seconds: number): Problem {
  return make('FTP_CONNECT_TIMEOUT', 'try_later', {
    message: `connection timed out: ${place} did not respond within ${seconds} s`,
    next: 'check the host, port, protocol (ftps_implicit servers send nothing before TLS) and firewall, or raise connect_timeout_seconds',
  });
}

/** An established connection was lost or stalled. The reader may log in again and resume the transfer. */
export function lost(thrown: unknown, place: string): Problem {
  const { code, message } = seenIn(thrown);
  // A data connection fails with a TLS error if the server doesn't encrypt it, or if its certificate differs from the
  // control connection's.
  if (isTls(code, message)) return tlsRefused(place, message, thrown);
  return make('FTP_LOST', 'try_later', {
    message: `the connection to ${place} was lost${networkWords[code] === undefined ? '' : `: ${networkWords[code]}`}`,
    seen: message,
    next: "the run will be retried from the start; if this persists, check the server's log and any firewalls on the way to the server",
    cause: thrown,
  });
}

const awayCodes = new Set(['FTP_LOST', 'FTP_UNREACHABLE', 'FTP_CONNECT_TIMEOUT', 'FTP_BUSY']);

/** Whether the transfer may be resumed with a new login after this error. */
export function isAway(thrown: unknown): thrown is Problem {
  return thrown instanceof Problem && awayCodes.has(thrown.code);
}

/** Whether the server refused the command itself. */
export function isRefusal(thrown: unknown): boolean {
  return thrown instanceof Problem && thrown.code === 'FTP_REFUSED';
}

/** The server refuses this user. */
export function loginRefused(place: string, user: string, answer: { seen: string; isLoginRefused: boolean }): Problem {
  return make('FTP_LOGIN_REFUSED', 'login', {
    message: `${place} refused the login as ${user}`,
    ...answer,
    next: "fix the source's user, password or key, then run `sluice check --connect`",
  });
}

/** The login is valid, but the user may not access this file or folder. */
export function denied(path: string, seen: string): Problem {
  return make('FTP_DENIED', 'job', {
    message: `permission denied on the server: ${path}`,
    seen,
    next: "ask the server's administrator to grant the user read access",
  });
}

/** A file in a listing that the server doesn't allow this user to inspect. */
export function notReadable(path: string, seen: string): Problem {
  const isMangled = path.includes('\ufffd');
  return make('FTP_DENIED', 'job', {
    message: `the server lists ${path}, but refuses access to it`,
    seen,
    next: isMangled
      ? 'set `name_encoding: latin1` on the source, because the name is not UTF-8'
      : "ask the server's administrator to grant the user read access, or exclude the file with the pattern",
  });
}

/** If the file's size is unknown, a truncated FTP transfer can't be distinguished from a complete one. */
export function noSize(path: string): Problem {
  return make('FTP_NO_SIZE', 'job', {
    message: `the server does not report the size of ${path}, so a truncated transfer could not be detected`,
    next: 'enable SIZE or MLSD on the server, or set the path to the target of the link',
  });
}

/** An FTP command is a single line, so a name with a line break can't be sent. */
export function unusableName(path: string): Problem {
  return make('FTP_NAME', 'job', {
    message: 'a file name contains a line break, which FTP does not support',
    seen: JSON.stringify(path),
    next: 'rename the file on the server, or exclude it with the pattern',
  });
}

/** Maximum number of entries in all folders that a pattern searches. */
export const maxEntries = 200_000;

/** The folders that the pattern searches have too many entries. */
export function tooMany(): Problem {
  return make('FTP_TOO_MANY_FILES', 'job', {
    message: `too many files: the folders that the pattern covers contain more than ${maxEntries} entries`,
    next: 'start the pattern with the folder to search',
  });
}

/** The server refused the request for any other reason. */
export function refused(place: string, seen: string): Problem {
  return make('FTP_REFUSED', 'job', {
    message: `${place} returned an error`,
    seen,
    next: "check the query's path and pattern; the server's log may have details",
  });
}

/** The server refused the request temporarily. */
export function busy(place: string, seen: string): Problem {
  return make('FTP_BUSY', 'try_later', {
    message: `${place} is busy or shutting down`,
    seen,
    next: "the run will be retried; if this persists, ask the server's administrator how many logins the server allows",
  });
}

/** The file has changed since its download began, so the part that was already downloaded is discarded. */
export function fileChanged(name: string, seen: string): Problem {
  return make('FTP_FILE_CHANGED', 'try_later', {
    message: `${name} was written to while it was being read`,
    seen,
    next: 'upload the file under another name and rename it when it is complete, or use a marker file (marker option)',
  });
}

/** The file hasn't changed and the server reported success, but fewer bytes arrived than the file has. */
export function endedEarly(name: string, seen: string): Problem {
  return make('FTP_LOST', 'try_later', {
    message: `the transfer of ${name} was incomplete`,
    seen,
    next: 'the run will be retried from the start; if this persists, check the firewalls on the way to the server, and whether the server reports sizes in binary mode',
  });
}

/**
 * The resumed transfer doesn't match the part that was already downloaded. Either the file has changed, or the server
 * resumed at another offset.
 */
export function resumedElsewhere(name: string, seen: string): Problem {
  return make('FTP_LOST', 'try_later', {
    message: `the resumed transfer of ${name} does not match the part already received, so the transfer starts over`,
    seen,
    next: 'the next run reads the whole file; if this happens again, check whether the server supports REST',
  });
}

/** A file that is named in the source's options can't be used. */
export function badFile(option: string, path: string, cause: unknown): Problem {
  return make('FTP_OPTION_FILE', 'config', {
    message: `cannot use the source's ${option}: ${path}`,
    seen: seenIn(cause).message,
    next: "fix the file's path, permissions or content",
    cause,
  });
}
