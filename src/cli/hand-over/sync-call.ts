import type { Socket } from 'node:net';
import { exit } from '../exit.ts';
import type { Screen } from '../output/progress.ts';
import type { Terminal } from '../sync/summary.ts';
import { LineSplitter } from './line-splitter.ts';
import {
  type ClientMessage,
  type DaemonFacts,
  type DaemonMessage,
  keepAliveMs,
  type SyncRequest,
  type TerminalFacts,
} from './protocol.ts';

/** Time limit for a client to send its request and to confirm it. */
const askMs = 5_000;
const maxMessage = 1_000_000;
/** How long to keep an unread response before disconnecting the client. */
const lingerMs = 1_000;

interface Served {
  readonly request: SyncRequest;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly stopCode: () => number | undefined;
}

interface SyncCallOptions {
  /** Returns the reason why the request can't be served, or undefined if it can. */
  readonly declines: (request: SyncRequest) => Promise<string | undefined>;
  readonly facts: () => DaemonFacts;
  /** Runs the jobs, and resolves to the exit code. */
  readonly serve: (given: Served) => Promise<number>;
}

/** One client's call. Invalid messages or a lost connection affect only this client's runs. */
export class SyncCall {
  readonly #socket: Socket;
  readonly #options: SyncCallOptions;
  readonly #stop = new AbortController();
  #request: SyncRequest | undefined;
  #isServed = false;
  #stopCode: number | undefined;
  readonly #lines = new LineSplitter();
  #size = { columns: 0, rows: 0 };
  #timer: NodeJS.Timeout;

  constructor(socket: Socket, options: SyncCallOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#timer = setTimeout(() => socket.destroy(), askMs);
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', () => undefined);
    socket.on('close', () => this.#leave());
  }

  #read(text: string): void {
    const lines = this.#lines.push(text);
    if (this.#lines.rest.length > maxMessage) this.#socket.destroy();
    for (const line of lines) {
      try {
        this.#take(JSON.parse(line) as unknown);
      } catch {
        this.#socket.destroy();
      }
    }
  }

  #take(message: unknown): void {
    if (typeof message !== 'object' || message === null) throw new Error('not a message');
    if (this.#request === undefined) {
      this.#request = requestIn(message);
      void this.#answer(this.#request).catch(() => this.#socket.destroy());
      return;
    }
    const fields = message as Partial<Record<'go' | 'stop' | 'resized', unknown>>;
    if (fields.go === true && !this.#isServed) void this.#serve(this.#request).catch(() => this.#socket.destroy());
    else if (fields.stop !== undefined) this.#end(message as ClientMessage & { stop: string });
    else if (fields.resized !== undefined) Object.assign(this.#size, sizeIn(fields.resized));
  }

  async #answer(request: SyncRequest): Promise<void> {
    const declined = await this.#options.declines(request);
    if (declined === undefined) this.#send({ accepted: this.#options.facts() });
    else this.#socket.end(lineOf({ declined }));
  }

  async #serve(request: SyncRequest): Promise<void> {
    this.#isServed = true;
    clearTimeout(this.#timer);
    // The config may have changed since the daemon accepted the call.
    const declined = await this.#options.declines(request);
    if (declined !== undefined) return void this.#socket.end(lineOf({ declined }));
    if (this.#stop.signal.aborted) return;
    this.#send({ started: true });
    this.#timer = setInterval(() => this.#send({}), keepAliveMs);
    const code = await this.#options.serve({
      request,
      terminal: this.#terminalOf(request),
      signal: this.#stop.signal,
      stopCode: () => this.#stopCode,
    });
    clearInterval(this.#timer);
    this.#socket.end(lineOf({ code }));
    // A client that doesn't read its response must not keep a stopping daemon alive.
    this.#timer = setTimeout(() => this.#socket.destroy(), lingerMs);
  }

  #end({ stop }: { readonly stop: string }): void {
    this.#stopCode ??= stop === 'SIGINT' ? exit.interrupted : exit.terminated;
    this.#stop.abort(new Error(`stopped by ${stop}`));
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.#stop.abort(new Error('the command that started this run has ended'));
  }

  #terminalOf({ stdout, stderr }: SyncRequest): Terminal {
    this.#size = { columns: stderr.columns, rows: stderr.rows };
    return {
      stdout: this.#screen(
        stdout,
        () => stdout,
        (text) => this.#send({ stdout: text }),
      ),
      stderr: this.#screen(
        stderr,
        () => this.#size,
        (text) => this.#send({ stderr: text }),
      ),
    };
  }

  #screen(
    { isTTY, hasColors }: TerminalFacts,
    size: () => { readonly columns: number; readonly rows: number },
    write: (text: string) => void,
  ): Screen {
    const socket = this.#socket;
    return {
      ...{ isTTY, write, hasColors: () => hasColors },
      get columns() {
        return size().columns;
      },
      get rows() {
        return size().rows;
      },
      get writableNeedDrain() {
        return socket.writableNeedDrain;
      },
    };
  }

  #send(message: DaemonMessage): void {
    if (this.#socket.writable) this.#socket.write(lineOf(message));
  }
}

const lineOf = (message: DaemonMessage): string => `${JSON.stringify(message)}\n`;

/** Parses a request. Throws if a field that the daemon needs is missing. */
function requestIn(message: object): SyncRequest {
  const request = message as SyncRequest;
  const { node, jobs, config, stdout, stderr, flag } = request;
  const lists = [node, jobs].every((list) => Array.isArray(list) && list.every((one) => typeof one === 'string'));
  const terminals = [stdout, stderr].every((facts) => typeof facts?.isTTY === 'boolean');
  const isNamed = typeof config?.name === 'string' && (flag === undefined || typeof flag === 'string');
  const isCounted = Number.isInteger(request.waitSeconds) && typeof request.json === 'boolean';
  if (!lists || !terminals || !isNamed || !isCounted) throw new Error('not a request');
  return request;
}

function sizeIn(value: unknown): { columns: number; rows: number } {
  const { columns, rows } = value as { columns: unknown; rows: unknown };
  return { columns: Number(columns), rows: Number(rows) };
}
