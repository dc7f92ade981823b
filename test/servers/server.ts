import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, globSync } from 'node:fs';
import { chmod, chown, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/** A private server that runs until `stop()`, or until the process that started it ends in any way. */
export interface TestServer {
  /** Ready to use: contains scheme, user, password, host, port and database. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The server's private folder. Its user may write here, and everyone may read. Deleted with the server. */
  readonly folder: string;
  /** Stops the server immediately and deletes its folder. */
  stop(): Promise<void>;
  /** Kills the server, as a power failure would; connections are reset. `stop()` is still required. */
  kill(): Promise<void>;
  /** Sends a signal to the server's first process and doesn't wait. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Stops the server immediately if it's still running, and starts it again on the same port with the same data. */
  restart(): Promise<void>;
}

export interface ServerSettings {
  /** Settings in the server's own syntax: `{max_connections: 5}`. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** PEM files; with them, the server offers TLS. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
}

/** A program's file: first in PATH, then in the given folders (globs allowed); undefined if it doesn't exist. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const inPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  const elsewhere = folders.flatMap((folder) => globSync(join(folder, name)));
  return [...inPath, ...elsewhere].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

interface RunAs {
  readonly as?: 'server' | 'us';
}

/**
 * PostgreSQL refuses to run as root. If the tests run as root, servers run as `postgres` or, if there is no such user,
 * as `nobody`.
 */
function serverIdentity(): Identity {
  known ??= findIdentity();
  return known;
}

/** Each look-up starts a process. */
let known: Identity | undefined;

function findIdentity(): Identity {
  if (process.getuid?.() !== 0) return {};
  const name = ['postgres', 'nobody'].find((user) => idOf('-u', user) !== undefined);
  if (name === undefined) throw new Error('test servers need a user "postgres" or "nobody" when the tests run as root');
  return { uid: idOf('-u', name)!, gid: idOf('-g', name)! };
}

function idOf(flag: string, user: string): number | undefined {
  try {
    return Number(execFileSync('id', [flag, user], { stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return undefined;
  }
}

/** The name of the user that servers run as. */
export function serverUser(): string {
  return execFileSync('id', ['-nu', ...userFlag()], { encoding: 'utf8' }).trim();
}

/** The name of that user's group. */
export function serverGroup(): string {
  return execFileSync('id', ['-ng', ...userFlag()], { encoding: 'utf8' }).trim();
}

function userFlag(): string[] {
  const { uid } = serverIdentity();
  return uid === undefined ? [] : [String(uid)];
}

/** A private folder owned by the server's user, with functions to fill it. */
export class ServerFolder {
  readonly path: string;
  readonly identity: Identity;

  private constructor(path: string, identity: Identity) {
    this.path = path;
    this.identity = identity;
  }

  static async make(name: string): Promise<ServerFolder> {
    const folder = new ServerFolder(await mkdtemp(join(tmpdir(), `sluice-${name}-`)), serverIdentity());
    await folder.#hand(folder.path, 0o755);
    return folder;
  }

  async #hand(path: string, mode: number): Promise<void> {
    await chmod(path, mode);
    if (this.identity.uid !== undefined) await chown(path, this.identity.uid, this.identity.gid!);
  }

  /** Writes a file that only the server's user may read, as servers require for private keys. */
  async write(name: string, content: string): Promise<string> {
    const path = join(this.path, name);
    await writeFile(path, content);
    await this.#hand(path, 0o600);
    return path;
  }

  /**
   * Runs a program as the server's user or as the current one, and waits for its end. If it fails, the folder is
   * deleted.
   */
  async run(program: string, args: readonly string[], { as = 'server' }: RunAs = {}): Promise<void> {
    try {
      await this.#run(program, args, as === 'us' ? {} : this.identity);
    } catch (failure) {
      await this.#remove();
      throw failure;
    }
  }

  async #run(program: string, args: readonly string[], identity: Identity): Promise<void> {
    await run(program, args, { ...identity, cwd: this.path, env: this.#env });
  }

  /**
   * When MariaDB starts, it deletes all temporary tables in its temp folder, even other servers', so each server has
   * its own.
   */
  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, HOME: this.path, TMPDIR: this.path };
  }

  /**
   * Starts a program under a supervisor; its output goes to `server.log` in the folder. It runs as the server's user,
   * or with the current privileges if it needs them.
   */
  async start(program: string, args: readonly string[], { as = 'server' }: RunAs = {}): Promise<Supervised> {
    const log = await open(join(this.path, 'server.log'), 'a');
    // The supervisor waits on a pipe that this process holds. Whatever ends this process, including SIGKILL, closes the
    // pipe, so the supervisor ends the server and deletes its folder. It has its own session, so signals to the
    // terminal's group don't reach it.
    const child = spawn('/bin/sh', ['-c', supervisor, 'sh', this.path, program, ...args], {
      ...(as === 'us' ? {} : this.identity),
      cwd: this.path,
      env: this.#env,
      detached: true,
      stdio: ['pipe', 'pipe', log.fd],
    });
    await log.close();
    // A virtual clock waits for child processes, and this one doesn't end by itself.
    child.unref();
    return new Supervised(child, this.path);
  }

  async #remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * SIGQUIT ends PostgreSQL at once with all its children, which would outlive a SIGKILL of their parent; MariaDB is a
 * single process. The shell that waits for the server also reports its end, because a killed process still looks alive
 * to all other processes until it's waited for.
 */
const supervisor = `
  folder=$1; shift
  exec 3<&0
  "$@" >&2 </dev/null 3<&- &
  server=$!
  echo $server
  (
    read -r word <&3
    kill -QUIT $server
    for try in 1 2 3 4 5 6 7 8 9 10; do kill -0 $server || break; sleep 0.1; done
    kill -KILL $server
    [ "$word" = keep ]
  ) >/dev/null 2>&1 &
  reader=$!
  trap '' PIPE
  wait $server
  echo gone 2>/dev/null
  wait $reader || { cd /; rm -rf "$folder"; }
`;

/** A server process and the supervisor that ends it. */
export class Supervised {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #gone: Promise<void>;
  readonly #pid: Promise<number>;
  #said = '';

  constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#gone = new Promise((resolve) => child.once('close', () => resolve()));
    this.#pid = new Promise((resolve) =>
      child.stdout!.once('data', (line: Buffer) => resolve(Number.parseInt(String(line), 10))),
    );
    child.stdout!.on('data', (line: Buffer) => {
      this.#said += line;
    });
    child.stdin!.on('error', () => {});
  }

  /** True until the server itself (not its supervisor) has ended. */
  get isAlive(): boolean {
    return !this.#said.includes('gone');
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    signal(await this.#pid, name);
  }

  async kill(name: NodeJS.Signals): Promise<void> {
    await this.signal(name);
    while (this.isAlive) await wait(10);
  }

  async stop({ keepFolder = false } = {}): Promise<void> {
    // Otherwise, a benchmark's process ends before the server does.
    this.#child.ref();
    this.#child.stdin!.end(keepFolder ? 'keep\n' : '');
    await this.#gone;
  }

  async lastWords(): Promise<string> {
    const log = await readFile(join(this.#folder, 'server.log'), 'utf8').catch(() => '');
    return log.split('\n').slice(-12).join('\n');
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It had already ended.
  }
}

interface Launch {
  /** Starts the server on the port. */
  start(port: number): Promise<Supervised>;
  /** One connection attempt. Rejects until the server responds. */
  answers(port: number): Promise<void>;
}

/** Only a hang should reach this limit. */
const startPatienceMs = 120_000;

/**
 * Starts on a free port and waits until the server responds. Uses another port if this one was taken in the meantime.
 */
export async function launch({ start, answers }: Launch, triesLeft = 3): Promise<{ port: number; server: Supervised }> {
  const port = await freePort();
  const server = await start(port);
  const failure = await untilAnswers(server, () => answers(port));
  if (failure === undefined) return { port, server };
  const words = await server.lastWords();
  if (triesLeft > 1 && /in use/i.test(words)) {
    await server.stop({ keepFolder: true });
    return launch({ start, answers }, triesLeft - 1);
  }
  await server.stop();
  throw new Error(`the server did not start: ${String(failure)}\n${words}`);
}

/** Waits until the server responds. If it ended or took too long, resolves to the reason. */
export async function untilAnswers(server: Supervised, answers: () => Promise<void>): Promise<unknown> {
  const end = performance.now() + startPatienceMs;
  for (;;) {
    const failure = await answers().then(
      () => undefined,
      (thrown: unknown) => thrown ?? new Error('no response'),
    );
    if (failure === undefined) return undefined;
    if (performance.now() > end || !server.isAlive) return failure;
    await wait(25);
  }
}
