import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { Client, FTPContext, FTPError, type FTPResponse } from 'basic-ftp';
import { certificateChecks, guardStream, Problem, readTlsFiles } from '#sdk';
import { useActiveMode } from './active-data.ts';
import { Arrivals } from './arrivals.ts';
import { delayDataErrors } from './delayed-data-errors.ts';
import { logIn } from './ftp-login.ts';
import { type ListingForm, parseListing, timeOf } from './listing.ts';
import type { FtpSourceValues } from './options.ts';
import { placeOf } from './place.ts';
import { badFile, busy, denied, lost, noSize, refused, tooMany, unusableName } from './problems.ts';
import type { Absent, DirectoryEntry, FileFacts, ReadRange, Session } from './session.ts';

/** Keepalive interval of the control connection during a long transfer. Firewalls would drop an idle connection. */
const keepAliveMs = 15_000;

/** Logs in over FTP. Uses TLS if it's configured. */
export async function openFtp(source: FtpSourceValues, folder: string, signal: AbortSignal): Promise<Session> {
  const client = new Client(source.idle_timeout_seconds * 1000);
  guardClient(client);
  client.ftp.encoding = source.name_encoding;
  if (source.active !== undefined) useActiveMode(client, source.active);
  ignorePasvAddress(client);
  delayDataErrors(client);
  const secureOptions = source.protocol === 'ftp' ? undefined : await tlsOptions(source, folder);
  const stop = () => client.close();
  signal.addEventListener('abort', stop);
  try {
    signal.throwIfAborted();
    await logIn(source, client, secureOptions);
    client.ftp.socket.setKeepAlive(true, keepAliveMs);
    const session = new FtpSession(client, source, await homeOf(client));
    signal.throwIfAborted();
    return session;
  } catch (error) {
    client.close();
    throw error instanceof Problem ? error : lost(error, placeOf(source));
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** In the server's reply, quotes in the folder name are doubled (RFC 959, appendix II). */
async function homeOf(client: Client): Promise<string> {
  const { message } = await client.sendIgnoringError('PWD');
  // Some servers omit the quotes or the path. For these servers, paths must be absolute.
  return (/"(.*)"/.exec(message)?.[1] ?? /^257 (\/\S*)/.exec(message)?.[1] ?? '').replaceAll('""', '"');
}

class FtpSession implements Session {
  readonly home: string;
  readonly #client: Client;
  readonly #place: string;

  constructor(client: Client, source: FtpSourceValues, home: string) {
    this.#client = client;
    this.#place = placeOf(source);
    this.home = home;
  }

  /** Changes to the folder first, because many servers interpret brackets and stars after LIST as wildcards. */
  async list(folder: string): Promise<DirectoryEntry[]> {
    return await this.#ask(folder, async () => {
      await this.#client.cd(folder);
      const { text, form } = await this.#listing();
      return parseListing(text, { form, folder });
    });
  }

  /** The reply to the first supported command of MLSD, `LIST -a` and LIST. */
  async #listing(): Promise<{ text: string; form: ListingForm }> {
    const client = this.#client;
    const known = client.availableListCommands;
    let text = '';
    client.parseList = (raw) => {
      text = raw;
      return [];
    };
    await unlessEmpty(client.list());
    if (text.trim() === '' && client.availableListCommands[0] === 'LIST -a') {
      // A listing with `-a` contains the folder itself. This listing doesn't, so the server interpreted `-a` as a file
      // name.
      client.availableListCommands = ['LIST'];
      await unlessEmpty(client.list());
      if (text.trim() === '') client.availableListCommands = known;
    }
    return { text, form: client.availableListCommands[0] === 'MLSD' ? 'MLSD' : 'LIST' };
  }

  /** Always uses SIZE and MDTM (RFC 3659), so that two results are comparable. */
  async stat(path: string): Promise<FileFacts | Absent> {
    const size = await this.#ask(path, () => unlessUnknown(absent(this.#client.send(`SIZE ${path}`))));
    if (typeof size === 'object') return size;
    const [, bytes] = /^213[ -]\s*(\d+)/.exec(size ?? '') ?? [];
    if (bytes === undefined) return await this.#listed(path);
    return { size: Number(bytes), ...(await this.#modified(path)) };
  }

  async #modified(path: string): Promise<Pick<FileFacts, 'modified'>> {
    const answer = await this.#ask(path, () => unlessUnknown(absent(this.#client.send(`MDTM ${path}`))));
    const modified = typeof answer === 'string' ? timeOf(answer.slice(4).trim()) : undefined;
    return modified === undefined ? {} : { modified };
  }

  /** The file's facts from the folder's listing, for servers that don't support SIZE. */
  async #listed(path: string): Promise<FileFacts | Absent> {
    const at = path.lastIndexOf('/');
    const folder = path.slice(0, at) || '/';
    if (!(await this.isFolder(folder))) return { absent: `folder ${folder} does not exist` };
    const found = (await this.list(folder)).find(({ name }) => name === path.slice(at + 1));
    if (found === undefined || found.kind === 'folder' || found.kind === 'other')
      return { absent: 'not listed as a file' };
    const { size, modified } = found;
    if (found.kind !== 'file' || size === undefined) throw noSize(path);
    return { size, ...(modified === undefined ? await this.#modified(path) : { modified }) };
  }

  async linkTarget(_path: string, entry: DirectoryEntry): Promise<string | undefined> {
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
    let hasBegun = false;
    try {
      for await (const chunk of arrivals.chunks()) {
        hasBegun = true;
        yield chunk;
      }
    } finally {
      arrivals.destroy();
      await done;
    }
    if (failure !== undefined) throw hasBegun ? this.#broken(path, failure) : this.#problem(path, failure);
  }

  async rename(from: string, to: string): Promise<void> {
    if (/[\r\n\0]/.test(to)) throw unusableName(to);
    await this.#change('RNFR', from);
    await this.#change('RNTO', to);
  }

  async remove(path: string): Promise<void> {
    await this.#change('DELE', path);
  }

  async makeFolder(path: string): Promise<void> {
    await this.#change('MKD', path);
  }

  /** For a change, servers also use 45x for what won't be different later, such as denied access. */
  async #change(command: string, path: string): Promise<void> {
    await this.#ask(path, async () => {
      try {
        await this.#client.send(`${command} ${path}`);
      } catch (error) {
        if (error instanceof FTPError && /^(?:45|5)/.test(String(error.code))) throw denied(path, error.message);
        throw error;
      }
    });
  }

  /** The file was readable before, so any error now is treated as transient. */
  #broken(path: string, error: unknown): Problem {
    return error instanceof FTPError && error.code >= 500
      ? busy(this.#place, `${error.message}: ${path}`)
      : this.#problem(path, error);
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

/** Whether the listing exceeded the size limit of the client library. */
function isTooLong(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Maximum bytes exceeded');
}

/** Some servers return an error for an empty folder, which this code treats as an empty listing. */
async function unlessEmpty(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    const isEmpty =
      error instanceof FTPError &&
      [450, 550].includes(error.code) &&
      /\bno (?:such )?files?\b(?! or)/i.test(error.message);
    if (!isEmpty) throw error;
  });
}

/**
 * Reply 550 means that the file is missing, that it isn't a file, or that access is denied. Only the text tells these
 * cases apart.
 */
async function absent(call: Promise<FTPResponse>): Promise<string | Absent> {
  try {
    return (await call).message;
  } catch (error) {
    const { code, message } = error instanceof FTPError ? error : { code: 0, message: '' };
    if (code === 550) return { absent: message, isMissing: /no such file or directory/i.test(message) };
    throw error;
  }
}

/** Returns undefined for 500, 502 and 504, which mean that the server doesn't support the command. */
async function unlessUnknown<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof FTPError && [500, 502, 504].includes(error.code)) return undefined;
    throw error;
  }
}

/**
 * In passive mode, connects to the control connection's address, as curl does. The address in the server's reply to
 * PASV is often 0.0.0.0 or a private address behind NAT, and a server must not be able to redirect Sluice to other
 * hosts.
 */
function ignorePasvAddress({ ftp }: Client): void {
  const request = ftp.request.bind(ftp);
  ftp.request = async (command) => {
    const response = await request(command);
    if (command !== 'PASV') return response;
    const address = (ftp.socket.remoteAddress ?? '').replace(/^::ffff:/i, '').replaceAll('.', ',');
    return { ...response, message: response.message.replace(/\d+,\d+,\d+,\d+(?=,\d+,\d+)/, address) };
  };
}

/**
 * TLS options for the control connection and all data connections. Each connection sends the server's host name.
 */
async function tlsOptions({ tls, host }: FtpSourceValues, folder: string): Promise<ConnectionOptions> {
  const servername = tls.servername ?? host;
  const { rejectUnauthorized, verifyIdentity } = certificateChecks(tls);
  return {
    rejectUnauthorized,
    ...(verifyIdentity ? {} : { checkServerIdentity: () => undefined }),
    // The TLS session is bound to this name, so a data connection with another name couldn't resume it.
    host: servername,
    ...(isIP(servername) === 0 ? { servername } : {}),
    ...(await readTlsFiles(tls, folder, (option, path, cause) => badFile(`tls.${option}`, path, cause))),
  };
}

/**
 * Guards each of the client's sockets, for commands and for data, with and without TLS. If the client throws an error
 * while it parses data, only the connection ends, not the process.
 */
function guardClient({ ftp }: Client): void {
  const guarded = <S extends Duplex | undefined>(socket: S): S => {
    if (socket !== undefined) guardStream(socket, toError);
    return socket;
  };
  guarded(ftp.socket);
  for (const name of ['socket', 'dataSocket'] as const) {
    const { get, set } = Object.getOwnPropertyDescriptor(FTPContext.prototype, name)!;
    Object.defineProperty(ftp, name, {
      get: get!,
      set: (socket: Duplex | undefined) => set!.call(ftp, guarded(socket)),
    });
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
