import { PassThrough } from 'node:stream';
import { Client, type FileInfo, FTPError } from 'basic-ftp';
import { Problem } from '#sdk';
import { useActiveMode } from './active-data.ts';
import type { SourceValues } from './options.ts';
import { waitForWord } from './patient-data.ts';
import { placeOf, portOf } from './place.ts';
import { busy, connectTimeout, denied, loginRefused, lost, notConnected, refused, tlsRefused } from './problems.ts';
import type { Entry, Facts, Session } from './session.ts';
import { tlsOptions } from './tls.ts';

/** Pings of the control connection while a long file comes over the other: firewalls forget what is silent. */
const keepAliveMs = 15_000;
const bufferBytes = 1024 * 1024;

/** Logs in by FTP, with TLS where the source says so. */
export async function openFtp(source: SourceValues, folder: string): Promise<Session> {
  const client = new Client(source.idle_timeout_seconds * 1000);
  client.ftp.encoding = source.name_encoding;
  if (source.active !== undefined) useActiveMode(client, source.active);
  waitForWord(client);
  const secureOptions = source.protocol === 'ftp' ? undefined : await tlsOptions(source, folder);
  try {
    await inTime(source, client, login(source, client, secureOptions));
    client.ftp.socket.setKeepAlive(true, keepAliveMs);
    return new FtpSession(client, source, await homeOf(client));
  } catch (error) {
    client.close();
    throw error instanceof Problem ? error : connectProblem(source, client, error);
  }
}

async function login(source: SourceValues, client: Client, secureOptions: object | undefined): Promise<void> {
  await client.access({
    host: source.host,
    port: portOf(source),
    user: source.user ?? 'anonymous',
    password: source.password ?? 'guest',
    secure: { ftp: false, ftps: true, ftps_implicit: 'implicit' as const, sftp: false }[source.protocol],
    ...(secureOptions === undefined ? {} : { secureOptions }),
  });
}

async function inTime(source: SourceValues, client: Client, work: Promise<void>): Promise<void> {
  const seconds = source.connect_timeout_seconds;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    client.close();
  }, seconds * 1000);
  try {
    await work;
  } catch (error) {
    throw isLate ? connectTimeout(placeOf(source), seconds) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Replies 530 and 532 are about the account, 4xx about the moment (RFC 959); nothing is said of an account before TLS. */
function connectProblem(source: SourceValues, client: Client, error: unknown): Problem {
  const place = placeOf(source);
  if (!(error instanceof FTPError)) return notConnected(error, place);
  if (error.code < 500) return busy(place, error.message);
  if (source.protocol === 'ftps' && !client.ftp.hasTLS) return tlsRefused(place, error.message, error);
  const isAccount = error.code === 530 || error.code === 532;
  return isAccount ? loginRefused(place, source.user ?? 'anonymous', error.message) : refused(place, error.message);
}

/** A quote inside the name of the folder is doubled in the answer (RFC 959, appendix II). */
async function homeOf(client: Client): Promise<string> {
  return (await client.pwd()).replaceAll('""', '"');
}

class FtpSession implements Session {
  readonly home: string;
  readonly #client: Client;
  readonly #place: string;

  constructor(client: Client, source: SourceValues, home: string) {
    this.#client = client;
    this.#place = placeOf(source);
    this.home = home;
  }

  /** Goes there first: many servers take brackets and stars behind LIST for a pattern of their own. */
  async list(folder: string): Promise<Entry[]> {
    const entries = await this.#ask(folder, async () => {
      await this.#client.cd(folder);
      return await this.#client.list();
    });
    return entries.map(entryOf);
  }

  /** By SIZE and MDTM (RFC 3659), always the same way, so that two looks at one file can be compared. */
  async stat(path: string): Promise<Facts | undefined> {
    const size = await this.#ask(path, () => unlessUnknown(absent(this.#client.size(path)), 'unknown' as const));
    if (size === 'unknown') return await this.#listed(path);
    if (size === undefined) return undefined;
    const modified = await this.#ask(path, () => unlessUnknown(absent(this.#client.lastMod(path)), undefined));
    return { size, ...(modified === undefined ? {} : { modified: modified.getTime() }) };
  }

  /** What the folder's listing tells, where the server knows no SIZE. */
  async #listed(path: string): Promise<Facts | undefined> {
    const at = path.lastIndexOf('/');
    const entries = await this.list(path.slice(0, at) || '/');
    const found = entries.find(({ name, kind }) => kind === 'file' && name === path.slice(at + 1));
    if (found === undefined) return undefined;
    return { size: found.size ?? 0, ...(found.modified === undefined ? {} : { modified: found.modified }) };
  }

  async isFolder(path: string): Promise<boolean> {
    return (await this.#ask(path, () => absent(this.#client.cd(path)))) !== undefined;
  }

  async *read(path: string, { from }: { from: number }): AsyncGenerator<Uint8Array> {
    const bytes = new PassThrough({ highWaterMark: bufferBytes });
    let failure: unknown;
    const done = this.#client.downloadTo(bytes, path, from).catch((error: unknown) => {
      failure = error;
      bytes.destroy();
    });
    try {
      yield* bytes as AsyncIterable<Buffer>;
    } catch (error) {
      await done;
      throw this.#problem(path, failure ?? error);
    } finally {
      bytes.destroy();
      await done;
    }
    if (failure !== undefined) throw this.#problem(path, failure);
  }

  close(): void {
    this.#client.close();
  }

  async #ask<T>(path: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.#problem(path, error);
    }
  }

  #problem(path: string, error: unknown): Problem {
    if (error instanceof Problem) return error;
    if (!(error instanceof FTPError)) return lost(error, this.#place);
    if (error.code === 421 || error.code === 425 || error.code === 426) return lost(error, this.#place);
    if (error.code === 550 || error.code === 553) return denied(path, error.message);
    return error.code < 500 ? busy(this.#place, error.message) : refused(this.#place, error.message);
  }
}

/** 550 means that it is not there, or not of that kind, or not for us; the message is all that tells them apart. */
async function absent<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof FTPError && error.code === 550) return undefined;
    throw error;
  }
}

/** 500, 502 and 504: the server does not know the command. */
async function unlessUnknown<T, U>(call: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof FTPError && [500, 502, 504].includes(error.code)) return otherwise;
    throw error;
  }
}

function entryOf(info: FileInfo): Entry {
  const { name, size, modifiedAt } = info;
  if (info.isDirectory) return { name, kind: 'folder' };
  if (!info.isFile) return { name, kind: 'unknown' };
  return { name, kind: 'file', size, ...(modifiedAt === undefined ? {} : { modified: modifiedAt.getTime() }) };
}
