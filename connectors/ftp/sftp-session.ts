import { promisify } from 'node:util';
import type { Client, FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2';
import { greetingOf, openSsh, Problem, type SshLogin } from '#sdk';
import type { FtpSourceValues } from './options.ts';
import { placeOf, portOf } from './place.ts';
import {
  busy,
  connectTimeout,
  denied,
  isAway,
  lost,
  maxEntries,
  noSftp,
  notConnected,
  otherProtocol,
  refused,
  tooMany,
} from './problems.ts';
import type { Absent, DirectoryEntry, FileFacts, ReadRange, Session } from './session.ts';
import { readAhead } from './sftp-read.ts';

/** The status codes of SFTP (draft-ietf-secsh-filexfer-02, 7). */
const endOfFile = 1;
const noSuchFile = 2;
const permissionDenied = 3;
const noConnection = 6;
const connectionLost = 7;
/**
 * A status code from later protocol versions that some servers send although they use version 3: locked file
 * (draft-ietf-secsh-filexfer-13, 9.1).
 */
const lockConflict = 17;

/** The high bits of a file's mode contain the file type (POSIX, sys/stat.h). */
const kindMask = 0o170000;
const kinds = new Map<number, DirectoryEntry['kind']>([
  [0o100000, 'file'],
  [0o040000, 'folder'],
  [0o120000, 'link'],
]);

/** Logs in over SSH and opens the SFTP subsystem. The source's timeout applies to each step. */
export async function openSftp(source: FtpSourceValues, folder: string, signal: AbortSignal): Promise<Session> {
  const client = (await openSsh(loginOf(source, folder), signal).catch((error: unknown) =>
    explain(source, error),
  )) as Client;
  const stop = () => client.destroy();
  signal.addEventListener('abort', stop);
  const answers = new Answers(client);
  const seconds = source.connect_timeout_seconds;
  const late = () => connectTimeout(`the SFTP subsystem of ${placeOf(source)}`, seconds);
  try {
    const open = async () => {
      const sftp = await promisify<SFTPWrapper>((done) => client.sftp(done))();
      return { sftp, home: await promisify<string, string>(sftp.realpath.bind(sftp))('.') };
    };
    return new SftpSession({ client, ...(await answers.within(open(), { seconds, late })), source, answers });
  } catch (error) {
    client.destroy();
    throw error instanceof Problem ? error : (noSftp(error, placeOf(source)) ?? notConnected(error, placeOf(source)));
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * SSH clients ignore all data before the SSH greeting (RFC 4253, 4.2). If the server speaks FTP, the client would
 * therefore wait until the timeout.
 */
async function explain(source: FtpSourceValues, error: unknown): Promise<never> {
  const isLate = error instanceof Problem && error.code === 'FTP_CONNECT_TIMEOUT';
  const greeting = isLate ? await greetingOf({ host: source.host, port: portOf(source) }) : undefined;
  if (greeting !== undefined && /^220[ -]/.test(greeting)) {
    throw otherProtocol(placeOf(source), { seen: greeting, protocol: 'ftps' });
  }
  throw error;
}

interface Patience {
  readonly seconds: number;
  readonly late: () => Problem;
}

/**
 * Waits for each reply from the subsystem with a timeout. The SSH server answers keepalives even if its subsystem
 * hangs, and some calls never return if the connection breaks.
 */
class Answers {
  readonly #client: Client;
  /**
   * Don't race all operations against one promise, because that promise would retain every promise it was raced
   * against, including each piece of a file.
   */
  readonly #waiting = new Set<(error: Error) => void>();
  #gone: Error | undefined;

  constructor(client: Client) {
    const end = (error: Error) => {
      this.#gone ??= error;
      for (const reject of this.#waiting) reject(this.#gone);
    };
    client.on('error', end);
    client.on('close', () => end(new Error('the server closed the connection')));
    this.#client = client;
  }

  async within<T>(answer: Promise<T>, { seconds, late }: Patience): Promise<T> {
    const limit = Promise.withResolvers<never>();
    if (this.#gone !== undefined) limit.reject(this.#gone);
    this.#waiting.add(limit.reject);
    const timer = setTimeout(() => {
      limit.reject(late());
      this.#client.destroy();
    }, seconds * 1000);
    try {
      return await Promise.race([answer, limit.promise]);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(limit.reject);
    }
  }
}

function loginOf(source: FtpSourceValues, folder: string): SshLogin {
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
  readonly source: FtpSourceValues;
  readonly home: string;
  readonly answers: Answers;
}

class SftpSession implements Session {
  readonly home: string;
  readonly #client: Client;
  readonly #sftp: SFTPWrapper;
  readonly #place: string;
  readonly #answers: Answers;
  readonly #patience: Patience;

  constructor({ client, sftp, source, home, answers }: Opened) {
    this.home = home;
    this.#client = client;
    this.#sftp = sftp;
    this.#place = placeOf(source);
    this.#answers = answers;
    const seconds = source.idle_timeout_seconds;
    const late = () => lost(new Error(`no response from the SFTP subsystem within ${seconds} s`), this.#place);
    this.#patience = { seconds, late };
  }

  async list(folder: string): Promise<DirectoryEntry[]> {
    const handle = await this.#ask(folder, () =>
      promisify<string, Buffer>(this.#sftp.opendir.bind(this.#sftp))(folder),
    );
    const read = promisify<Buffer, FileEntryWithStats[] | undefined>(this.#sftp.readdir.bind(this.#sftp));
    try {
      const entries: DirectoryEntry[] = [];
      // Reads the listing batch by batch, so that a long listing isn't mistaken for a stalled server.
      for (let isEnd = false; !isEnd; ) {
        const batch = await this.#ask(folder, () => unlessStatus(endOfFile, read(handle)));
        for (const entry of batch ?? []) entries.push(entryOf(entry));
        if (entries.length > maxEntries) throw tooMany();
        isEnd = batch === undefined;
      }
      return entries;
    } finally {
      this.#sftp.close(handle, () => undefined);
    }
  }

  async stat(path: string): Promise<FileFacts | Absent> {
    const stats = await this.#stats(path);
    if (stats === undefined) return { absent: 'no such file', isMissing: true };
    const kind = await this.#kindOf(path, stats);
    return kind === 'file' ? factsOf(stats) : { absent: 'not a plain file' };
  }

  async isFolder(path: string): Promise<boolean> {
    const stats = await this.#stats(path);
    return stats !== undefined && (await this.#kindOf(path, stats)) === 'folder';
  }

  /** Servers may omit the permissions, which include the file type (draft-ietf-secsh-filexfer-02, 5). */
  async #kindOf(path: string, { mode }: Stats): Promise<DirectoryEntry['kind']> {
    if (mode !== undefined) return kinds.get(mode & kindMask) ?? 'other';
    const open = promisify<string, Buffer>(this.#sftp.opendir.bind(this.#sftp));
    const handle = await this.#ask(path, () => open(path)).catch((error: unknown) => {
      if (isAway(error)) throw error;
    });
    if (handle === undefined) return 'file';
    this.#sftp.close(handle, () => undefined);
    return 'folder';
  }

  async linkTarget(path: string): Promise<string | undefined> {
    const read = promisify<string, string>(this.#sftp.readlink.bind(this.#sftp));
    return await this.#ask(path, () => read(path)).catch((error: unknown) => {
      if (isAway(error)) throw error;
      return undefined;
    });
  }

  async *read(path: string, { from, size = Number.POSITIVE_INFINITY }: ReadRange): AsyncGenerator<Uint8Array> {
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

  async rename(from: string, to: string): Promise<void> {
    const rename = promisify<string, string, void>(this.#sftp.rename.bind(this.#sftp));
    await this.#ask(from, () => rename(from, to));
  }

  async remove(path: string): Promise<void> {
    await this.#ask(path, () => promisify<string>(this.#sftp.unlink.bind(this.#sftp))(path));
  }

  async makeFolder(path: string): Promise<void> {
    await this.#ask(path, () => promisify<string>(this.#sftp.mkdir.bind(this.#sftp))(path));
  }

  close(): void {
    this.#client.destroy();
  }

  async #stats(path: string): Promise<Stats | undefined> {
    const look = promisify<string, Stats>(this.#sftp.stat.bind(this.#sftp));
    return await this.#ask(path, () => unlessStatus(noSuchFile, look(path)));
  }

  async #ask<T>(path: string, call: () => Promise<T>): Promise<T> {
    try {
      return await this.#answers.within(call(), this.#patience);
    } catch (error) {
      throw this.#problem(path, error);
    }
  }

  #problem(path: string, error: unknown): Problem {
    if (error instanceof Problem) return error;
    const { code, message = '' } = error as { code?: unknown; message?: string };
    if (code === noSuchFile || code === permissionDenied) return denied(path, message);
    if (code === lockConflict) return busy(this.#place, `${message}: ${path}`);
    const isStatus = typeof code === 'number' && code !== noConnection && code !== connectionLost;
    return isStatus ? refused(this.#place, `${message}: ${path}`) : lost(error, this.#place);
  }
}

function openFile(sftp: SFTPWrapper, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sftp.open(path, 'r', (error, handle) => (error ? reject(error) : resolve(handle)));
  });
}

/** Returns undefined if the server replies with this status. */
async function unlessStatus<T>(status: number, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if ((error as { code?: unknown }).code === status) return undefined;
    throw error;
  }
}

function factsOf({ size, mtime }: Partial<Stats>): FileFacts {
  return { size, modified: mtime === undefined ? undefined : mtime * 1000 };
}

const kindsOfLongNames: Readonly<Record<string, DirectoryEntry['kind']>> = { '-': 'file', d: 'folder', l: 'link' };

function entryOf({ filename: name, longname, attrs }: FileEntryWithStats): DirectoryEntry {
  const { mode } = attrs as Partial<Stats>;
  const kind =
    mode === undefined ? (kindsOfLongNames[longname.charAt(0)] ?? 'unknown') : (kinds.get(mode & kindMask) ?? 'other');
  return kind === 'file' ? { name, kind, ...factsOf(attrs) } : { name, kind };
}
