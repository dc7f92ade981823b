import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type AuthenticationType, type AuthHandlerMiddleware, Client, type ConnectConfig } from 'ssh2';
import { Problem } from '../../lib/problem.ts';
import { type HostTrust, hostTrust } from './host-trust.ts';
import type { SshLogin } from './login.ts';
import { badFile, loginProblem, passwordExpired, promptProblem, refusedAgain } from './problems.ts';
import { PromptAnswers } from './prompts.ts';

/**
 * Logs in to an SSH server with a trusted host key. The caller must end the client. Throws a Problem or, if the signal
 * is aborted, the signal's reason.
 */
export async function connectSsh(login: SshLogin, signal?: AbortSignal): Promise<Client> {
  const trust = await hostTrust(login);
  let first: unknown;
  for (const offer of trust.offers) {
    try {
      return await attempt(login, { trust, offer }, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isOfHostKey(error)) throw error;
      first ??= error;
    }
  }
  throw first;
}

/** Whether the server may have a trusted host key of another type. */
function isOfHostKey(error: unknown): boolean {
  return error instanceof Problem && /_(HOST_KEY_CHANGED|HOST_KEY_MISSING)$/.test(error.code);
}

interface Offering {
  readonly trust: HostTrust;
  readonly offer: HostTrust['offers'][number];
}

async function attempt(login: SshLogin, offering: Offering, signal?: AbortSignal): Promise<Client> {
  const client = new Client();
  // The pending call reports the error. After a protocol error, the library closes only its own side of the connection
  // and stops sending keepalives, so it would wait forever if the server never closed its side.
  client.on('error', () => client.destroy());
  const refusal: Believing['refusal'] = { hasTried: false };
  const stop = () => client.destroy();
  try {
    const config = await configOf(login, { ...offering, refusal });
    client.on('change password', () => {
      refusal.problem = passwordExpired(login);
      client.destroy();
    });
    const { password } = login;
    if (password !== undefined) {
      const answers = new PromptAnswers();
      client.on('keyboard-interactive', (_name, _text, _language, prompts, finish) => {
        const answer = answers.answer(prompts);
        if (answer === 'password') return finish(prompts.map(() => password));
        refusal.problem = answer === 'again' ? refusedAgain(login) : promptProblem(login, answer.asksFor);
        client.destroy();
      });
    }
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop, { once: true });
    await ready(client, config);
    client.setNoDelay(true);
    return client;
  } catch (error) {
    client.destroy();
    signal?.throwIfAborted();
    throw refusal.problem ?? loginProblem(login, error, refusal);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/**
 * Resolves when the client is logged in. If a server closes the connection cleanly during the key exchange, the library
 * reports no error.
 */
function ready(client: Client, config: ConnectConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('ready', resolve).once('error', reject);
    client.once('close', () => reject(new Error('the server closed the connection during login')));
    client.connect(config);
  });
}

interface Believing extends Offering {
  /**
   * Why the login was abandoned, and whether a key or password was tried. Recorded because the library reports only
   * that the login failed.
   */
  readonly refusal: { problem?: Problem; hasTried: boolean };
}

async function configOf(login: SshLogin, { trust, offer, refusal }: Believing): Promise<ConnectConfig> {
  const key = await keyOf(login);
  return {
    host: login.host,
    port: login.port,
    username: login.user,
    readyTimeout: login.connectTimeoutSeconds * 1000,
    // Three unanswered keepalives count as a timeout, even during a file transfer.
    keepaliveInterval: Math.ceil((login.idleTimeoutSeconds * 1000) / 4),
    keepaliveCountMax: 3,
    hostVerifier: (shown: Buffer) => {
      const problem = trust.refusal(shown);
      if (problem !== undefined) refusal.problem = problem;
      return problem === undefined;
    },
    algorithms: { serverHostKey: [...offer], ...(login.algorithms === 'legacy' ? legacy : {}) },
    ...(login.password === undefined ? {} : { password: login.password, tryKeyboard: true }),
    privateKey: key,
    authHandler: authOrder({
      ...{ hasKey: key !== undefined, hasPassword: login.password !== undefined },
      onTry: () => {
        refusal.hasTried = true;
      },
    }),
    passphrase: login.passphrase,
  };
}

/**
 * Algorithms for old servers, which the library disables by default. They're offered after the library's preferred
 * algorithms.
 */
const legacy: ConnectConfig['algorithms'] = {
  kex: {
    append: ['diffie-hellman-group-exchange-sha1', 'diffie-hellman-group14-sha1', 'diffie-hellman-group1-sha1'],
    prepend: [],
    remove: [],
  },
  cipher: { append: ['aes256-cbc', 'aes192-cbc', 'aes128-cbc', '3des-cbc'], prepend: [], remove: [] },
};

async function keyOf(login: SshLogin): Promise<Buffer | undefined> {
  if (login.private_key_file === undefined) return undefined;
  const path = resolve(login.folder, login.private_key_file);
  try {
    return await readFile(path);
  } catch (cause) {
    throw badFile(login, { option: 'private_key_file', path, cause });
  }
}

interface AuthOrderOptions {
  readonly hasKey: boolean;
  readonly hasPassword: boolean;
  /** Called before a key or a password is tried. */
  readonly onTry: () => void;
}

/**
 * Tries the login methods in the same order as OpenSSH: asks the server which methods it accepts, then tries the key,
 * then the password, each only if the server still offers that method. After a partial success (if the server requires
 * both a key and a password), the login continues with the methods that the server lists next (RFC 4252, 5.1). A
 * refused password isn't sent again by another method, because servers count failures.
 */
function authOrder({ hasKey, hasPassword, onTry }: AuthOrderOptions): AuthHandlerMiddleware {
  const left: AuthenticationType[] = [
    ...(hasKey ? (['publickey'] as const) : []),
    ...(hasPassword ? (['password', 'keyboard-interactive'] as const) : []),
  ];
  let last: AuthenticationType | undefined;
  return (offered: readonly AuthenticationType[] | null, isPartial: boolean | null) => {
    if (offered === null) return 'none';
    if (last === 'password' && isPartial !== true) drop('keyboard-interactive');
    const next = left.find((method) => offered.length === 0 || offered.includes(method));
    if (next === undefined) return false;
    drop(next);
    last = next;
    onTry();
    return next;
  };

  function drop(method: AuthenticationType): void {
    const at = left.indexOf(method);
    if (at >= 0) left.splice(at, 1);
  }
}
