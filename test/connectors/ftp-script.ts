import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { posix } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';

/** What is sent over one data connection, and the reply after it. */
interface Transfer {
  readonly bytes: Buffer;
  readonly end: string;
}

/**
 * A scripted FTP server, for behavior that real servers can't be made to show. What the script doesn't override follows
 * the default rules.
 */
export interface FtpScript {
  /** Absolute paths with contents; a test may change them at any time. */
  readonly files: Map<string, string>;
  /** Overrides the default rules with a full reply, such as `550 denied`; undefined for the default reply. */
  readonly reply?: (verb: string, argument: string) => string | undefined | Promise<string | undefined>;
  /** The response to LIST for a folder; by default `ls -l` of its files. */
  readonly list?: (folder: string, names: readonly string[]) => string;
  /** The response to MLSD, which the server supports only if this is set. */
  readonly mlsd?: (folder: string, names: readonly string[]) => string;
  /** The address that PASV returns; by default, the real one. */
  readonly pasvAddress?: string;
  /** Implicit TLS for commands, and none for data. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Changes a download. */
  readonly retrieve?: (path: string, rest: number, whole: Transfer) => Transfer;
}

export interface ScriptedFtp {
  readonly source: Record<string, unknown>;
  /** All commands so far, as received. */
  readonly commands: readonly string[];
  close(): Promise<void>;
}

const here = '127.0.0.1';

/** Starts it on a free port of loopback. */
export async function openFtpScript(script: FtpScript): Promise<ScriptedFtp> {
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const answer = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    void new Conversation(socket, { script, commands }).run().catch(() => socket.destroy());
  };
  const server = script.tls === undefined ? createServer(answer) : createTlsServer(script.tls, answer);
  const port = await listening(server);
  return {
    source: {
      protocol: script.tls === undefined ? 'ftp' : 'ftps_implicit',
      host: here,
      port,
      user: 'u',
      password: 'p',
      connect_timeout_seconds: 10,
    },
    commands,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, here);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function* linesOf(socket: Socket): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of socket) {
    const lines = `${text}${chunk}`.split('\r\n');
    text = lines.pop()!;
    yield* lines;
  }
}

interface Served {
  readonly script: FtpScript;
  readonly commands: string[];
}

class Conversation {
  readonly #socket: Socket;
  readonly #served: Served;
  #folder = '/';
  #rest = 0;
  #data: { server: Server; arrived: Promise<Socket> } | undefined;

  constructor(socket: Socket, served: Served) {
    this.#socket = socket;
    this.#served = served;
  }

  async run(): Promise<void> {
    this.#say('220 ready');
    for await (const line of linesOf(this.#socket)) {
      this.#served.commands.push(line);
      const [verb = '', argument = ''] = /^(\S+) ?(.*)$/.exec(line)?.slice(1) ?? [];
      const scripted = await this.#served.script.reply?.(verb, argument);
      if (scripted === undefined) await this.#byTheRules(verb, argument);
      else this.#say(scripted);
      if (verb === 'QUIT') return;
    }
  }

  #say(text: string): void {
    this.#socket.write(`${text}\r\n`);
  }

  async #byTheRules(verb: string, argument: string): Promise<void> {
    const { files, mlsd, list = listOf(files) } = this.#served.script;
    const path = posix.resolve(this.#folder, argument);
    const content = files.get(path);
    if (verb === 'USER') this.#say('331 password');
    else if (verb === 'PASS') this.#say('230 in');
    else if (verb === 'FEAT')
      this.#say(mlsd === undefined ? '211 none' : '211-Features\r\n MLST type*;size*;\r\n211 End');
    else if (verb === 'PWD') this.#say('257 "/"');
    else if (verb === 'CWD') this.#enter(path);
    else if (verb === 'EPSV') this.#say(`229 here (|||${await this.#listen()}|)`);
    else if (verb === 'PASV') this.#say(pasv(await this.#listen(), this.#served.script.pasvAddress ?? here));
    else if (verb === 'SIZE') this.#say(content === undefined ? '550 not there' : `213 ${Buffer.byteLength(content)}`);
    else if (verb === 'MDTM') this.#say(content === undefined ? '550 not there' : '213 20260102030405');
    else if (verb === 'REST') this.#restart(Number(argument));
    else if (verb === 'LIST') await this.#send(whole(list(this.#folder, this.#names())));
    else if (verb === 'MLSD' && mlsd !== undefined) await this.#send(whole(mlsd(this.#folder, this.#names())));
    else if (verb === 'RETR') await this.#retrieve(path, content);
    else this.#say(['TYPE', 'STRU', 'OPTS'].includes(verb) ? '200 ok' : '502 not known');
  }

  #names(): string[] {
    const prefix = this.#folder === '/' ? '/' : `${this.#folder}/`;
    const inside = [...this.#served.script.files.keys()].filter((path) => path.startsWith(prefix));
    return [...new Set(inside.map((path) => path.slice(prefix.length).split('/')[0]!))];
  }

  #enter(folder: string): void {
    const isThere =
      folder === '/' || [...this.#served.script.files.keys()].some((path) => path.startsWith(`${folder}/`));
    if (isThere) this.#folder = folder;
    this.#say(isThere ? '250 ok' : '550 not there');
  }

  #restart(at: number): void {
    this.#rest = at;
    this.#say('350 go on');
  }

  async #listen(): Promise<number> {
    const server = createServer();
    const arrived = once(server, 'connection').then(([socket]) => socket as Socket);
    arrived.catch(() => undefined);
    const port = await listening(server);
    this.#data = { server, arrived };
    return port;
  }

  async #retrieve(path: string, content: string | undefined): Promise<void> {
    if (content === undefined) return this.#say('550 not there');
    const rest = this.#rest;
    this.#rest = 0;
    const transfer = { bytes: Buffer.from(content).subarray(rest), end: '226 done' };
    await this.#send(this.#served.script.retrieve?.(path, rest, transfer) ?? transfer);
  }

  async #send({ bytes, end }: Transfer): Promise<void> {
    if (this.#data === undefined) return this.#say('425 no data connection');
    const { server, arrived } = this.#data;
    const socket = await arrived;
    server.close();
    socket.on('error', () => undefined);
    this.#say('150 here it comes');
    socket.end(bytes);
    await once(socket, 'close');
    this.#say(end);
  }
}

function pasv(port: number, address: string): string {
  return `227 here (${[...address.split('.'), port >> 8, port & 255].join(',')})`;
}

function whole(text: string): Transfer {
  return { bytes: Buffer.from(text), end: '226 done' };
}

/** In the format of `ls -l`. */
export function listLine(name: string, size: number, { rights = '-rw-r--r--', date = 'Jan 02 03:04' } = {}): string {
  return `${rights} 1 owner group ${String(size).padStart(8)} ${date} ${name}`;
}

function listOf(files: ReadonlyMap<string, string>) {
  return (folder: string, names: readonly string[]) =>
    names
      .map((name) => {
        const content = files.get(posix.join(folder, name));
        return content === undefined ? listLine(name, 4096, { rights: 'drwxr-xr-x' }) : listLine(name, content.length);
      })
      .join('\r\n');
}
