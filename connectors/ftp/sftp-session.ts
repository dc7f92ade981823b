import { promisify } from 'node:util';
import type { Client, FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2';
import { openSsh, type Problem, type SshLogin } from '#sdk';
import type { SourceValues } from './options.ts';
import { placeOf, portOf } from './place.ts';
import { denied, lost, notConnected, refused } from './problems.ts';
import type { Entry, Facts, Session } from './session.ts';
import { readAhead } from './sftp-read.ts';

/** Status codes of the protocol (draft-ietf-secsh-filexfer-02, 7). */
const noSuchFile = 2;
const permissionDenied = 3;
const noConnection = 6;
const connectionLost = 7;

/** Logs in by SSH and opens its file transfer subsystem. */
export async function openSftp(source: SourceValues, folder: string): Promise<Session> {
  const client = await openSsh(loginOf(source, folder));
  try {
    const sftp = await promisify<SFTPWrapper>((done) => client.sftp(done))();
    const home = await promisify<string, string>(sftp.realpath.bind(sftp))('.');
    return new SftpSession({ client, sftp, source, home });
  } catch (error) {
    client.destroy();
    throw notConnected(error, placeOf(source));
  }
}

function loginOf(source: SourceValues, folder: string): SshLogin {
  return {
    ...source,
    port: portOf(source),
    user: source.user ?? 'anonymous',
    folder,
    connectTimeoutSeconds: source.connect_timeout_seconds,
    idleTimeoutSeconds: source.idle_timeout_seconds,
    place: placeOf(source),
    codes: 'FTP',
  };
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
