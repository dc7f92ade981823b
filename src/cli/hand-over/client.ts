import type { Socket } from 'node:net';
import { tolerateLostOutput } from '../output/output-streams.ts';
import { onStop, type StopSignal } from '../signals.ts';
import { isSameEnvironment, namespaces } from './environment.ts';
import { findDaemon } from './find-daemon.ts';
import { LineSplitter } from './line-splitter.ts';
import type { Loss } from './lost.ts';
import {
  type ClientMessage,
  codeLocation,
  type DaemonFacts,
  type DaemonMessage,
  keepAliveMs,
  keepReason,
  protocolVersion,
  type SyncRequest,
  type TerminalFacts,
} from './protocol.ts';
import { readWords, type SyncWords } from './sync-words.ts';

/**
 * How long to wait for a daemon to accept the request. A daemon that takes longer is busy, so it's faster to run the
 * jobs in this process.
 */
const acceptMs = 500;
/**
 * Number of keepalives after which a silent daemon is considered lost. If the daemon had only hung, its watchdog would
 * already have killed it.
 */
const maxSilence = 9;

/**
 * Hands a `sluice sync` over to the daemon of its state folder, because the daemon has already loaded everything.
 * Returns true if the daemon ran the jobs. Otherwise, this process must run them. Loads as little code as possible,
 * because this function runs before all other code.
 */
export async function handOver(words: readonly string[]): Promise<boolean> {
  const reason = await call(words);
  if (reason !== undefined) keepReason(reason);
  return reason === undefined;
}

async function call(words: readonly string[]): Promise<string | undefined> {
  const asked = readWords(words, process.env);
  if (typeof asked === 'string') return asked;
  const daemon = findDaemon(asked.config, process.env);
  if (typeof daemon === 'string') return daemon;
  const net = process.getBuiltinModule('node:net');
  const socket = net.connect({ path: daemon.socket });
  try {
    return await new Call(socket, asked, requestFor(asked, daemon.config)).ended;
  } finally {
    daemon.close();
  }
}

function requestFor(asked: SyncWords, identity: SyncRequest['config']): SyncRequest {
  const { flag, jobs, json, waitSeconds } = asked;
  return {
    version: protocolVersion,
    code: codeLocation,
    node: process.execArgv,
    config: identity,
    ...(flag === undefined ? {} : { flag }),
    ...{ jobs, json, waitSeconds },
    stdout: factsOf(process.stdout),
    stderr: factsOf(process.stderr),
  };
}

function factsOf(stream: NodeJS.WriteStream): TerminalFacts {
  if (stream.isTTY !== true) return { isTTY: false, columns: 0, rows: 0, hasColors: false };
  return { isTTY: true, columns: stream.columns, rows: stream.rows, hasColors: stream.hasColors() };
}

/** A single conversation with a daemon. */
class Call {
  /** Resolves to undefined if the daemon ran the jobs, otherwise to the reason why the daemon didn't. */
  readonly ended: Promise<string | undefined>;
  readonly #socket: Socket;
  readonly #asked: SyncWords;
  readonly #end: (reason: string | undefined) => void;
  #phase: 'asking' | 'confirming' | 'running' | 'over' = 'asking';
  readonly #lines = new LineSplitter();
  #timer: NodeJS.Timeout;
  #silence = 0;
  #stop: StopSignal | undefined;

  constructor(socket: Socket, asked: SyncWords, request: SyncRequest) {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.ended = promise;
    this.#end = resolve;
    this.#socket = socket;
    this.#asked = asked;
    this.#timer = setTimeout(() => this.#fail('it does not respond'), acceptMs);
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', (error) => this.#fail(error.message));
    socket.on('close', () => this.#fail('the connection was closed'));
    socket.write(`${JSON.stringify(request)}\n`);
  }

  #read(text: string): void {
    this.#silence = 0;
    for (const line of this.#lines.push(text)) {
      const message = messageIn(line);
      if (message === undefined) this.#fail('its response is not valid');
      else this.#take(message);
    }
  }

  #take(message: DaemonMessage): void {
    if (this.#phase === 'running') this.#show(message);
    else if (message.declined !== undefined) this.#leave(`the daemon declined: ${message.declined}`);
    else if (this.#phase === 'asking') this.#confirm(message);
    else if (this.#phase === 'confirming') this.#begin(message);
  }

  /**
   * The client decides here whether to hand the jobs over. Later, it can't run the jobs itself unless the daemon
   * declines.
   */
  #confirm({ accepted }: DaemonMessage): void {
    const reason = accepted === undefined ? 'its response is not valid' : (whyApart(accepted) ?? this.#asked.stays);
    if (reason !== undefined) {
      this.#leave(reason);
      return;
    }
    this.#phase = 'confirming';
    this.#send({ go: true });
  }

  #begin({ started }: DaemonMessage): void {
    if (started !== true) {
      this.#fail('its answer is not valid');
      return;
    }
    this.#phase = 'running';
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => {
      this.#silence += 1;
      if (this.#silence > maxSilence) this.#fail('it no longer responds');
    }, keepAliveMs);
    tolerateLostOutput('sync');
    const { stderr } = process;
    stderr.on('resize', () => this.#send({ resized: { columns: stderr.columns, rows: stderr.rows } }));
    const stop = onStop();
    this.#stop = stop;
    stop.signal.addEventListener('abort', () => this.#send({ stop: stop.code() === 130 ? 'SIGINT' : 'SIGTERM' }));
  }

  #show({ stdout, stderr, code }: DaemonMessage): void {
    if (stdout !== undefined) process.stdout.write(stdout);
    if (stderr !== undefined) process.stderr.write(stderr);
    if (code === undefined) return;
    process.exitCode = code;
    this.#leave(undefined);
  }

  #send(message: ClientMessage): void {
    if (this.#phase !== 'over') this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  /**
   * Handles a failed connection. If the daemon may already have started the runs, this process must not run the jobs
   * again.
   */
  #fail(why: string): void {
    const { jobs, json, flag } = this.#asked;
    const loss: Loss = { why, jobs, json, flag, code: this.#stop?.code() };
    if (this.#phase === 'asking') {
      this.#leave(`no daemon: ${why}`);
    } else if (this.#phase !== 'over') {
      this.#phase = 'over';
      void import('./lost.ts').then(({ reportLoss }) => reportLoss(loss)).finally(() => this.#leave(undefined));
    }
  }

  #leave(reason: string | undefined): void {
    this.#phase = 'over';
    clearTimeout(this.#timer);
    this.#socket.destroy();
    process.stderr.removeAllListeners('resize');
    this.#stop?.done();
    this.#end(reason);
  }
}

/** Why runs in the daemon would differ from runs in this process; undefined if they wouldn't differ. */
function whyApart(daemon: DaemonFacts): string | undefined {
  if (!isSame(daemon.namespaces, namespaces())) return 'the daemon is in another container or sandbox';
  return isSameEnvironment(daemon) ? undefined : 'the daemon has a different environment';
}

function messageIn(line: string): DaemonMessage | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}

const isSame = (one: readonly string[], other: readonly string[]): boolean => one.join() === other.join();
