import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client, type ConnectConfig, type FileEntryWithStats, type SFTPWrapper, type Stats } from 'ssh2';
import { Problem } from '#sdk';
import { type HostTrust, hostTrust } from './host-key.ts';
import type { SourceValues } from './options.ts';
import { placeOf, portOf } from './place.ts';
import { badFile, connectTimeout, denied, loginRefused, lost, notConnected, refused } from './problems.ts';
import type { Entry, Facts, Session } from './session.ts';
import { readAhead } from './sftp-read.ts';

/** Status codes of the protocol (draft-ietf-secsh-filexfer-02, 7). */
const noSuchFile = 2;
const permissionDenied = 3;
const noConnection = 6;
const connectionLost = 7;

/** Logs in by SSH and opens its file transfer subsystem. */
export async function openSftp(source: SourceValues, folder: string): Promise<Session> {
  const trust = await hostTrust(source, folder);
  const client = new Client();
  // Whatever ends the connection is met by the call that is waiting for it.
  client.on('error', () => undefined);
  const refusal: { problem?: Problem } = {};
  const config = await configOf({ source, folder, trust, refusal });
  if (source.password !== undefined) {
    client.on('keyboard-interactive', (_name, _text, _language, prompts, finish) =>
      finish(prompts.map(() => source.password!)),
    );
  }
  try {
    await loggedIn(client, config);
    client.setNoDelay(true);
    const sftp = await promisify<SFTPWrapper>((done) => client.sftp(done))();
    const home = await promisify<string, string>(sftp.realpath.bind(sftp))('.');
    return new SftpSession({ client, sftp, source, home });
  } catch (error) {
    client.destroy();
    throw refusal.problem ?? connectProblem(source, error);
  }
}

async function loggedIn(client: Client, config: ConnectConfig): Promise<void> {
  const ready = once(client, 'ready');
  client.connect(config);
  await ready;
}

interface Login {
  readonly source: SourceValues;
  readonly folder: string;
  readonly trust: HostTrust;
  /** Says afterwards why the host was not believed; the library only knows that it was not. */
  readonly refusal: { problem?: Problem };
}

async function configOf({ source, folder, trust, refusal }: Login): Promise<ConnectConfig> {
  const key = await keyOf(source, folder);
  return {
    host: source.host,
    port: portOf(source),
    username: source.user ?? 'anonymous',
    readyTimeout: source.connect_timeout_seconds * 1000,
    // Three pings without an answer are a silence that is too long, also in the middle of a file.
    keepaliveInterval: Math.ceil((source.idle_timeout_seconds * 1000) / 4),
    keepaliveCountMax: 3,
    hostVerifier: (shown: Buffer) => {
      const problem = trust.refusal(shown);
      if (problem !== undefined) refusal.problem = problem;
      return problem === undefined;
    },
    ...(trust.algorithms === undefined ? {} : { algorithms: { serverHostKey: trust.algorithms } }),
    ...(source.password === undefined ? {} : { password: source.password, tryKeyboard: true }),
    ...(key === undefined ? {} : { privateKey: key }),
    ...(source.passphrase === undefined ? {} : { passphrase: source.passphrase }),
  };
}

async function keyOf(source: SourceValues, folder: string): Promise<Buffer | undefined> {
  if (source.private_key_file === undefined) return undefined;
  const path = resolve(folder, source.private_key_file);
  try {
    return await readFile(path);
  } catch (cause) {
    throw badFile('private_key_file', path, cause);
  }
}

function connectProblem(source: SourceValues, error: unknown): Problem {
  if (error instanceof Problem) return error;
  const place = placeOf(source);
  const { level, message = '' } = error as { level?: string; message?: string };
  if (level === 'client-authentication') return loginRefused(place, source.user ?? 'anonymous', message);
  if (level === 'client-timeout') return connectTimeout(place, source.connect_timeout_seconds);
  if (/private ?key|passphrase/i.test(message))
    return badFile('private_key_file', source.private_key_file ?? '', error);
  return notConnected(error, place);
}

interface Opened {
  readonly client: Client;
  readonly sftp: SFTPWrapper;
  readonly source: SourceValues;
  readonly home: string;
}

class SftpSession implements Session {
  readonly home: string;
  readonly #client: Client;
  readonly #sftp: SFTPWrapper;
  readonly #place: string;
  readonly #gone: Promise<never>;

  constructor({ client, sftp, source, home }: Opened) {
    this.home = home;
    this.#client = client;
    this.#sftp = sftp;
    this.#place = placeOf(source);
    const gone = Promise.withResolvers<never>();
    // Calls under way are not all answered when the connection breaks.
    client.on('error', (error) => gone.reject(error));
    client.on('close', () => gone.reject(new Error('the server closed the connection')));
    gone.promise.catch(() => undefined);
    this.#gone = gone.promise;
  }

  async list(folder: string): Promise<Entry[]> {
    const read = promisify<string, FileEntryWithStats[]>(this.#sftp.readdir.bind(this.#sftp));
    return (await this.#ask(folder, () => read(folder))).map(entryOf);
  }

  async stat(path: string): Promise<Facts | undefined> {
    const stats = await this.#stats(path);
    return stats?.isFile() ? { size: stats.size, modified: stats.mtime * 1000 } : undefined;
  }

  async isFolder(path: string): Promise<boolean> {
    return (await this.#stats(path))?.isDirectory() ?? false;
  }

  async *read(path: string, { from, size }: { from: number; size: number }): AsyncGenerator<Uint8Array> {
    const sftp = this.#sftp;
    const handle = await this.#ask(path, () => openFile(sftp, path));
    try {
      for (const piece of readAhead(sftp, handle, { from, size })) {
        const { bytes, isWhole } = await this.#ask(path, () => piece);
        yield bytes;
        if (!isWhole) return;
      }
    } finally {
      sftp.close(handle, () => undefined);
    }
  }

  close(): void {
    this.#client.destroy();
  }

  async #stats(path: string): Promise<Stats | undefined> {
    const look = promisify<string, Stats>(this.#sftp.stat.bind(this.#sftp));
    return await this.#ask(path, async () => {
      try {
        return await look(path);
      } catch (error) {
        if ((error as { code?: unknown }).code === noSuchFile) return undefined;
        throw error;
      }
    });
  }

  async #ask<T>(path: string, call: () => Promise<T>): Promise<T> {
    try {
      return await Promise.race([call(), this.#gone]);
    } catch (error) {
      throw this.#problem(path, error);
    }
  }

  #problem(path: string, error: unknown): Problem {
    const { code, message = '' } = error as { code?: unknown; message?: string };
    if (code === noSuchFile || code === permissionDenied) return denied(path, message);
    const isStatus = typeof code === 'number' && code !== noConnection && code !== connectionLost;
    return isStatus ? refused(this.#place, `${message}: ${path}`) : lost(error, this.#place);
  }
}

function openFile(sftp: SFTPWrapper, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sftp.open(path, 'r', (error, handle) => (error ? reject(error) : resolve(handle)));
  });
}

function entryOf({ filename: name, attrs }: FileEntryWithStats): Entry {
  const stats = attrs as Stats;
  if (stats.isDirectory()) return { name, kind: 'folder' };
  if (!stats.isFile()) return { name, kind: 'unknown' };
  return { name, kind: 'file', size: stats.size, modified: stats.mtime * 1000 };
}
