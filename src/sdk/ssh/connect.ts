import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Client, type ConnectConfig } from 'ssh2';
import { Problem } from '../../lib/problem.ts';
import { authOrder } from './auth-order.ts';
import { type HostTrust, hostTrust } from './host-trust.ts';
import type { SshLogin } from './login.ts';
import { badFile, loginProblem, passwordExpired, promptProblem, refusedAgain } from './problems.ts';
import { PromptAnswers } from './prompts.ts';

/**
 * Logs in on an SSH server whose key is believed. The client is the caller's to end. Throws a Problem, or the signal's
 * reason.
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

/** Whether a host key of another type may be the trusted one. */
function isOfHostKey(error: unknown): boolean {
  return error instanceof Problem && /_(HOST_KEY_CHANGED|HOST_KEY_MISSING)$/.test(error.code);
}

interface Offering {
  readonly trust: HostTrust;
  readonly offer: HostTrust['offers'][number];
}

async function attempt(login: SshLogin, offering: Offering, signal?: AbortSignal): Promise<Client> {
  const client = new Client();
  // The call that waits meets the error. The library only ends its own half after nonsense, and stops its pings with that, so it
  // would wait forever for a server that never hangs up.
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

/** Resolves when the login is done. A server that hangs up in order during the key exchange is no error to the library. */
function ready(client: Client, config: ConnectConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('ready', resolve).once('error', reject);
    client.once('close', () => reject(new Error('the server closed the connection during the login')));
    client.connect(config);
  });
}

interface Believing extends Offering {
  /** Says afterwards why the login was given up, and whether a key or a password was tried; the library only knows that it failed. */
  readonly refusal: { problem?: Problem; hasTried: boolean };
}

async function configOf(login: SshLogin, { trust, offer, refusal }: Believing): Promise<ConnectConfig> {
  const key = await keyOf(login);
  return {
    host: login.host,
    port: login.port,
    username: login.user,
    readyTimeout: login.connectTimeoutSeconds * 1000,
    // Three pings without an answer are a silence that is too long, also in the middle of a file.
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

/** What old servers have and the library has switched off, behind what it prefers. */
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
