import { networkWords } from '../../lib/network.ts';
import { Problem, type ProblemOptions } from '../../lib/problem.ts';
import { excerpt } from '../../lib/redact.ts';
import type { SshLogin } from './login.ts';

/** A problem with an SSH connection. Its code has the connector's prefix: `DB_SSH` gives `DB_SSH_LOST`. */
export function make(
  { codes }: SshLogin,
  code: string,
  family: ProblemOptions['family'],
  rest: Omit<ProblemOptions, 'code' | 'family'>,
): Problem {
  return new Problem({ code: `${codes}_${code}`, family, ...rest });
}

/** The problem for an error that prevented a login. */
export function loginProblem(login: SshLogin, error: unknown, { hasTried }: { hasTried: boolean }): Problem {
  if (error instanceof Problem) return error;
  const { level, message = '' } = error as { level?: string; message?: string };
  if (level === 'client-authentication' || /too many authentication failures/i.test(message))
    return refused(login, { seen: message, isLoginRefused: hasTried });
  if (level === 'client-timeout') return timedOut(login);
  if (/private ?key|passphrase/i.test(message))
    return badFile(login, { option: 'private_key_file', path: login.private_key_file ?? '', cause: error });
  const [, kind] = /no matching (.+)/.exec(message) ?? [];
  if (kind !== undefined) return nothingInCommon(login, kind);
  return notConnected(login, error);
}

/** Client and server have no algorithm in common. A retry doesn't help, because the configuration must change. */
function nothingInCommon(login: SshLogin, kind: string): Problem {
  const isHostKey = kind === 'host key format';
  return make(login, isHostKey ? 'HOST_KEY_MISSING' : 'ALGORITHMS', 'config', {
    message: `${login.place} has no ${isHostKey ? 'host key of an accepted type' : `${kind} in common with Sluice`}`,
    seen: `no matching ${kind}`,
    next: isHostKey
      ? 'generate an ed25519, ecdsa or rsa host key on the server; if it has one, check `host_key` and the known_hosts file'
      : 'set `algorithms: legacy` if the source has that option and the server is old; otherwise update the server',
  });
}

/** The password is correct, but it has expired (RFC 4252, 8). */
export function passwordExpired(login: SshLogin): Problem {
  return make(login, 'PASSWORD_EXPIRED', 'login', {
    message: `the password for ${login.user} at ${login.place} has expired`,
    next: 'change the password on the server and in the source, or log in with a key',
  });
}

function refused(login: SshLogin, answer: { seen: string; isLoginRefused: boolean }): Problem {
  return make(login, 'LOGIN_REFUSED', 'login', {
    message: `${login.place} refused the login of ${login.user}`,
    ...answer,
    next: "fix the source's user, password or key, then run `sluice check --connect`",
  });
}

/** The server asks for the password a second time, so it refused the first one. */
export function refusedAgain(login: SshLogin): Problem {
  return refused(login, { seen: 'the server asked for the password again', isLoginRefused: true });
}

/** The server asks for something other than the password, such as a one-time code. */
export function promptProblem(login: SshLogin, prompt: string): Problem {
  return make(login, 'LOGIN_PROMPT', 'config', {
    message: `${login.place} requires more than a password to log in`,
    seen: prompt.trim() === '' ? 'an empty prompt' : excerpt(prompt.trim(), 100),
    allowed: 'a single prompt for the password',
    next: 'log in with a key (private_key_file), or as a user without one-time codes',
  });
}

function timedOut(login: SshLogin): Problem {
  return make(login, 'CONNECT_TIMEOUT', 'try_later', {
    message: `connection timed out: ${login.place} did not respond within ${login.connectTimeoutSeconds} s`,
    next: 'check the host, port and firewall, or raise connect_timeout_seconds',
  });
}

function notConnected(login: SshLogin, cause: unknown): Problem {
  const { code, message, errors } = cause as { code?: unknown; message?: unknown; errors?: { message?: unknown }[] };
  return make(login, 'UNREACHABLE', 'try_later', {
    message: `cannot connect to ${login.place}: ${networkWords[String(code)] ?? 'connection failed'}`,
    seen: String(message || errors?.[0]?.message || cause),
    next: 'check the host and port, and that the server is running; then run `sluice check --connect`',
    cause,
  });
}

interface BadFile {
  readonly option: string;
  readonly path: string;
  readonly cause: unknown;
}

/** A file that the options name can't be used. */
export function badFile(login: SshLogin, { option, path, cause }: BadFile): Problem {
  return make(login, 'OPTION_FILE', 'config', {
    message: `the source's ${option} cannot be used: ${path}`,
    seen: String((cause as Error).message || cause),
    next: "fix the file's path, permissions or content",
    cause,
  });
}
