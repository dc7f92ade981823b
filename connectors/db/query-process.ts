import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environmentWith, Problem } from '#sdk';
import { FileOverwritten } from './file-overwritten.ts';
import type { QueryReader } from './query-reader.ts';

export type ProcessRequest<Order> = { readonly kind: 'open'; readonly order: Order } | { readonly kind: 'rows' };

export type ProcessAnswer<Column, Rows> =
  | { readonly kind: 'opened'; readonly columns: readonly Column[] }
  | { readonly kind: 'rows'; readonly rows: Rows }
  | ProcessFailure;

/** An error in the child process. */
export interface ProcessFailure {
  readonly kind: 'failed';
  readonly name: string;
  readonly message: string;
  readonly errcode: number | undefined;
}

const ending = import.meta.url.endsWith('.js') ? 'js' : 'ts';

interface ProcessOptions {
  /** The name of the file in this folder that the child process runs, without its ending. */
  readonly entry: string;
  /** The kind of file that is read, in messages. */
  readonly title: string;
  readonly signal: AbortSignal;
  /** The time limit for each step, in milliseconds; 0 means no limit. */
  readonly timeoutMs: number;
  /** The library's error. */
  readonly errorOf: (failure: ProcessFailure) => Error;
}

/**
 * A query over a local file in a child process, for libraries that are synchronous, can't be interrupted, or could crash.
 * In the main process, a heavy query would block all other jobs and the daemon's shutdown.
 */
export class QueryProcess<Order, Column, Rows> implements QueryReader<Order, Column, Rows> {
  readonly #child: ChildProcess;
  readonly #options: ProcessOptions;
  #stopped: Error | undefined;
  #isClosing = false;
  #fail: ((reason: unknown) => void) | undefined;

  /** If the signal is aborted, the process is killed. */
  constructor(options: ProcessOptions) {
    const { entry, title, signal } = options;
    this.#options = options;
    this.#child = spawn(process.execPath, [fileURLToPath(new URL(`./${entry}.${ending}`, import.meta.url))], {
      // SQLite uses the TZ variable for 'localtime'.
      env: environmentWith('NODE_COMPILE_CACHE', 'TZ'),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    this.#child.on('error', (error) => this.#end(lost(title, error.message)));
    this.#child.on('exit', (code, by) => this.#end(lost(title, `it ended with ${by ?? code}`)));
    signal.addEventListener('abort', this.#abort, { once: true });
    this.#hold(false);
  }

  /** Throws the errors that the child process threw. */
  async open(order: Order): Promise<readonly Column[]> {
    const answer = await this.#ask({ kind: 'open', order });
    return answer.kind === 'opened' ? answer.columns : this.#unexpected(answer);
  }

  /**
   * Throws the same errors as `open`, or the signal's reason. Don't call this method while another request is pending.
   */
  async rows(): Promise<Rows> {
    const answer = await this.#ask({ kind: 'rows' });
    return answer.kind === 'rows' ? answer.rows : this.#unexpected(answer);
  }

  /** Kills the process, and resolves when the process has exited. */
  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#abort);
    const { exitCode, signalCode, pid } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    this.#isClosing = true;
    this.#hold(true);
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  readonly #abort = (): void => {
    this.#end(this.#options.signal.reason);
    this.#child.kill('SIGKILL');
  };

  async #ask(request: ProcessRequest<Order>): Promise<ProcessAnswer<Column, Rows>> {
    const { title, timeoutMs } = this.#options;
    this.#options.signal.throwIfAborted();
    if (this.#stopped !== undefined) throw this.#stopped;
    this.#hold(true);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<ProcessAnswer<Column, Rows>>((resolve, reject) => {
        this.#fail = reject;
        this.#child.once('message', (answer: ProcessAnswer<Column, Rows>) => resolve(answer));
        this.#child.send(request, (error) => error && this.#end(lost(title, error.message)));
        if (timeoutMs > 0) timer = setTimeout(() => this.#end(tooSlow(timeoutMs)), timeoutMs);
      });
    } finally {
      clearTimeout(timer);
      this.#hold(false);
    }
  }

  #unexpected(answer: ProcessAnswer<Column, Rows>): never {
    const overwritten = new FileOverwritten();
    if (answer.kind === 'failed') throw answer.name === overwritten.name ? overwritten : this.#options.errorOf(answer);
    throw new Error(`the process sent an unexpected answer: ${answer.kind}`);
  }

  #end(reason: Error): void {
    this.#stopped ??= reason;
    this.#fail?.(this.#stopped);
  }

  /**
   * The child keeps this process alive only while a response is pending, and it exits when this process exits. If a
   * response arrives while the child is being closed, the child keeps this process alive until it exits, because
   * `close` waits for the exit.
   */
  #hold(isWaiting: boolean): void {
    const { channel } = this.#child;
    if (isWaiting || this.#isClosing) {
      this.#child.ref();
      channel?.ref();
    } else {
      this.#child.unref();
      channel?.unref();
    }
  }
}

function lost(title: string, how: string): Problem {
  return new Problem({
    code: 'DB_CONNECTION_LOST',
    family: 'try_later',
    message: `the process that read the ${title} file stopped unexpectedly: ${how}`,
    next: 'nothing to do: Sluice retries the run automatically',
  });
}

function tooSlow(milliseconds: number): Problem {
  return new Problem({
    code: 'DB_STATEMENT_CANCELLED',
    family: 'job',
    message: 'query timed out',
    seen: `${milliseconds / 1000} s`,
    next: 'raise statement_timeout_seconds or make the query faster',
  });
}
