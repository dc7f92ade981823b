import { Client, FTPError, type FTPResponse } from 'basic-ftp';
import { Problem } from '#sdk';
import { useActiveMode } from './active-data.ts';
import { Arrivals } from './arrivals.ts';
import { guardClient } from './guarded-client.ts';
import { type ListingForm, parseListing, timeOf } from './listing.ts';
import type { SourceValues } from './options.ts';
import { ignorePasvAddress } from './passive-data.ts';
import { waitForWord } from './patient-data.ts';
import { placeOf, portOf } from './place.ts';
import {
  busy,
  connectTimeout,
  denied,
  loginRefused,
  lost,
  noSize,
  notConnected,
  refused,
  tlsRefused,
  tooMany,
  unusableName,
} from './problems.ts';
import type { Absent, Entry, Facts, ReadRange, Session } from './session.ts';
import { tlsOptions } from './tls.ts';

/** Pings of the control connection while a long file comes over the other: firewalls forget what is silent. */
const keepAliveMs = 15_000;

/** Logs in by FTP, with TLS where the source says so. */
export async function openFtp(source: SourceValues, folder: string, signal: AbortSignal): Promise<Session> {
  const client = new Client(source.idle_timeout_seconds * 1000);
  guardClient(client);
  client.ftp.encoding = source.name_encoding;
  if (source.active !== undefined) useActiveMode(client, source.active);
  ignorePasvAddress(client);
  waitForWord(client);
  const secureOptions = source.protocol === 'ftp' ? undefined : await tlsOptions(source, folder);
  const stop = () => client.close();
  const asked: Asked = { hasPassword: false };
  signal.addEventListener('abort', stop);
  try {
    signal.throwIfAborted();
    await inTime(source, client, login(source, client, { secureOptions, asked }));
    client.ftp.socket.setKeepAlive(true, keepAliveMs);
    const session = new FtpSession(client, source, await homeOf(client));
    signal.throwIfAborted();
    return session;
  } catch (error) {
    client.close();
    throw error instanceof Problem ? error : connectProblem(source, client, { error, asked });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** What the server was told until it refused. */
interface Asked {
  hasPassword: boolean;
}

async function login(
  source: SourceValues,
  client: Client,
  { secureOptions, asked }: { secureOptions: object | undefined; asked: Asked },
): Promise<void> {
  // The library's own, step by step: only an answer to PASS is about the password.
  client.login = async (user, password) => {
    let answer = await client.send(`USER ${user}`);
    if (answer.code === 331) {
      asked.hasPassword = source.password !== undefined;
      answer = await client.send(`PASS ${password}`);
    }
    if (answer.code === 332) throw new FTPError(answer);
    return answer;
  };
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
function connectProblem(
  source: SourceValues,
  client: Client,
  { error, asked }: { error: unknown; asked: Asked },
): Problem {
  const place = placeOf(source);
  if (!(error instanceof FTPError)) return notConnected(error, place);
  if (error.code < 500) return busy(place, error.message);
  if (source.protocol === 'ftps' && !client.ftp.hasTLS) return tlsRefused(place, error.message, error);
  if (error.code !== 530 && error.code !== 532) return refused(place, error.message);
  const isLoginRefused = error.code === 530 && asked.hasPassword && !/too many|maximum|busy/i.test(error.message);
  return loginRefused(place, source.user ?? 'anonymous', { seen: error.message, isLoginRefused });
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
    return await this.#ask(folder, async () => {
      await this.#client.cd(folder);
      const { text, form } = await this.#listing();
      return parseListing(text, { form, folder });
    });
  }

  /** The answer to the first of MLSD, `LIST -a` and LIST that the server knows. */
  async #listing(): Promise<{ text: string; form: ListingForm }> {
    const client = this.#client;
    const known = client.availableListCommands;
    let text = '';
    client.parseList = (raw) => {
      text = raw;
      return [];
    };
    await client.list();
    if (text.trim() === '' && client.availableListCommands[0] === 'LIST -a') {
      // `-a` shows the folder itself, so this server took it for the name of a file.
      client.availableListCommands = ['LIST'];
      await client.list();
      if (text.trim() === '') client.availableListCommands = known;
    }
    return { text, form: client.availableListCommands[0] === 'MLSD' ? 'MLSD' : 'LIST' };
  }

  /** By SIZE and MDTM (RFC 3659), always the same way, so that two looks at one file can be compared. */
  async stat(path: string): Promise<Facts | Absent> {
    const size = await this.#ask(path, () => unlessUnknown(absent(this.#client.send(`SIZE ${path}`))));
    if (typeof size === 'object') return size;
    const [, bytes] = /^213[ -]\s*(\d+)/.exec(size ?? '') ?? [];
    if (bytes === undefined) return await this.#listed(path);
    return { size: Number(bytes), ...(await this.#modified(path)) };
  }

  async #modified(path: string): Promise<Pick<Facts, 'modified'>> {
    const answer = await this.#ask(path, () => unlessUnknown(absent(this.#client.send(`MDTM ${path}`))));
    const modified = typeof answer === 'string' ? timeOf(answer.slice(4).trim()) : undefined;
    return modified === undefined ? {} : { modified };
  }

  /** What the folder's listing tells, if the server knows no SIZE. */
  async #listed(path: string): Promise<Facts | Absent> {
    const at = path.lastIndexOf('/');
    const folder = path.slice(0, at) || '/';
    if (!(await this.isFolder(folder))) return { absent: `there is no folder ${folder}` };
    const found = (await this.list(folder)).find(({ name }) => name === path.slice(at + 1));
    if (found === undefined || found.kind === 'folder' || found.kind === 'other')
      return { absent: 'not listed as a file' };
    const { size, modified } = found;
    if (found.kind !== 'file' || size === undefined) throw noSize(path);
    return { size, ...(modified === undefined ? await this.#modified(path) : { modified }) };
  }

  async linkTarget(_path: string, entry: Entry): Promise<string | undefined> {
    return entry.target;
  }

  async isFolder(path: string): Promise<boolean> {
    return typeof (await this.#ask(path, () => absent(this.#client.send(`CWD ${path}`)))) === 'string';
  }

  async *read(path: string, { from }: ReadRange): AsyncGenerator<Uint8Array> {
    const arrivals = new Arrivals();
    let failure: unknown;
    const done = this.#client
      .downloadTo(arrivals, path, from)
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => arrivals.complete());
    try {
      yield* arrivals.chunks();
    } finally {
      arrivals.destroy();
      await done;
    }
    if (failure !== undefined) throw this.#problem(path, failure);
  }

  close(): void {
    this.#client.close();
  }

  async #ask<T>(path: string, call: () => Promise<T>): Promise<T> {
    if (/[\r\n\0]/.test(path)) throw unusableName(path);
    try {
      return await call();
    } catch (error) {
      throw this.#problem(path, error);
    }
  }

  #problem(path: string, error: unknown): Problem {
    if (error instanceof Problem) return error;
    if (!(error instanceof FTPError)) return isTooLong(error) ? tooMany() : lost(error, this.#place);
    if (error.code === 421 || error.code === 425 || error.code === 426) return lost(error, this.#place);
    if (error.code === 550 || error.code === 553) return denied(path, error.message);
    return error.code < 500 ? busy(this.#place, error.message) : refused(this.#place, error.message);
  }
}

/** The client library bounds what a listing may hold. */
function isTooLong(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Maximum bytes exceeded');
}

/** 550 means that it is not there, or not of that kind, or not for us; the message is all that tells them apart. */
async function absent(call: Promise<FTPResponse>): Promise<string | Absent> {
  try {
    return (await call).message;
  } catch (error) {
    const { code, message } = error instanceof FTPError ? error : { code: 0, message: '' };
    if (code === 550) return { absent: message, isMissing: /no such file or directory/i.test(message) };
    throw error;
  }
}

/** Undefined for 500, 502 and 504: the server does not know the command. */
async function unlessUnknown<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof FTPError && [500, 502, 504].includes(error.code)) return undefined;
    throw error;
  }
}
