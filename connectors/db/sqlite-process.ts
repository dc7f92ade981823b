import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environmentWith, Problem, type SqliteValue } from '#sdk';
import type { SqliteColumn, SqliteOrder, SqliteReader } from './sqlite-file.ts';
import { FileOverwritten } from './sqlite-snapshot.ts';

export type SqliteRequest = { readonly kind: 'open'; readonly order: SqliteOrder } | { readonly kind: 'rows' };

export type SqliteAnswer =
  | { readonly kind: 'opened'; readonly columns: readonly SqliteColumn[] }
  | { readonly kind: 'rows'; readonly rows: SqliteValue[][] }
  | { readonly kind: 'overwritten' }
  | { readonly kind: 'failed'; readonly errcode?: number; readonly message: string };

const ending = import.meta.url.endsWith('.js') ? 'js' : 'ts';
const entry = fileURLToPath(new URL(`./sqlite-child.${ending}`, import.meta.url));

/**
 * A SQLite query in a child process. SQLite is synchronous and can't be interrupted. In the main process, a heavy query
 * would block all other jobs and the daemon's shutdown.
 */
export class SqliteProcess implements SqliteReader {
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal;
  readonly #timeoutMs: number;
  #stopped: Error | undefined;
  #isClosing = false;
  #fail: ((reason: unknown) => void) | undefined;

  /** `timeoutMs` is the time limit for each step; 0 means no limit. If the signal is aborted, the process is killed. */
  constructor({ signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number }) {
    this.#signal = signal;
    this.#timeoutMs = timeoutMs;
    this.#child = spawn(process.execPath, [entry], {
      // SQLite uses the TZ variable for 'localtime'.
      env: environmentWith('NODE_COMPILE_CACHE', 'TZ'),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    this.#child.on('error', (error) => this.#end(lost(error.message)));
    this.#child.on('exit', (code, by) => this.#end(lost(`it ended with ${by ?? code}`)));
    signal.addEventListener('abort', this.#abort, { once: true });
    this.#hold(false);
  }

  /** Throws the errors that `node:sqlite` threw in the child process. */
  async open(order: SqliteOrder): Promise<readonly SqliteColumn[]> {
    const answer = await this.#ask({ kind: 'open', order });
    return answer.kind === 'opened' ? answer.columns : unexpected(answer);
  }

  /**
   * Throws the same errors as `open`, or the signal's reason. Don't call this method while another request is pending.
   */
  async rows(): Promise<SqliteValue[][]> {
    const answer = await this.#ask({ kind: 'rows' });
    return answer.kind === 'rows' ? answer.rows : unexpected(answer);
  }

  /** Kills the process, and resolves when the process has exited. */
  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    const { exitCode, signalCode, pid } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    this.#isClosing = true;
    this.#hold(true);
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  readonly #abort = (): void => {
    this.#end(this.#signal.reason);
    this.#child.kill('SIGKILL');
  };

  async #ask(request: SqliteRequest): Promise<SqliteAnswer> {
    this.#signal.throwIfAborted();
    if (this.#stopped !== undefined) throw this.#stopped;
    this.#hold(true);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<SqliteAnswer>((resolve, reject) => {
        this.#fail = reject;
        this.#child.once('message', (answer: SqliteAnswer) => resolve(answer));
        this.#child.send(request, (error) => error && this.#end(lost(error.message)));
        if (this.#timeoutMs > 0) timer = setTimeout(() => this.#end(tooSlow(this.#timeoutMs)), this.#timeoutMs);
      });
    } finally {
      clearTimeout(timer);
      this.#hold(false);
    }
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

function unexpected(answer: SqliteAnswer): never {
  if (answer.kind === 'overwritten') throw new FileOverwritten();
  if (answer.kind !== 'failed') throw new Error(`the SQLite process sent an unexpected answer: ${answer.kind}`);
  const { message, errcode } = answer;
  throw Object.assign(new Error(message), errcode === undefined ? {} : { code: 'ERR_SQLITE_ERROR', errcode });
}

function lost(how: string): Problem {
  return new Problem({
    code: 'DB_CONNECTION_LOST',
    family: 'try_later',
    message: `the process that read the SQLite file stopped unexpectedly: ${how}`,
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
