import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { countOf } from '../../lib/count-text.ts';
import type { Log } from '../../lib/log.ts';

const run = promisify(execFile);
/** The child says one sentence and waits until it was heard. */
const longestMs = 5_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Tells systemd how the daemon is doing, as sd_notify(3) has it. Node cannot open a datagram socket of its own kind, so
 * the words go through `systemd-notify`, which every machine with systemd has: the unit needs `NotifyAccess=all`.
 * Without NOTIFY_SOCKET in the environment it says nothing.
 */
export class Systemd {
  readonly #env: Environment;
  readonly #log: Log;
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();
  #isMute: boolean;

  constructor({ env, log }: { readonly env: Environment; readonly log: Log }) {
    this.#env = env;
    this.#log = log;
    this.#isMute = env.NOTIFY_SOCKET === undefined || env.NOTIFY_SOCKET === '';
  }

  /** The config is active and jobs fire; called again after each reload. `remark`: shown beside it in the status. */
  ready(jobs: number, remark?: string): Promise<void> {
    const more = remark === undefined ? '' : `; ${remark}`;
    return this.#say('READY=1', `STATUS=${countOf(jobs, 'job')} active${more}`);
  }

  /** On standby for another daemon: the service manager need not wait until that one ends. */
  reserve(holder: string): Promise<void> {
    this.watch(() => true);
    return this.#say('READY=1', `STATUS=standby: ${holder} uses the state folder`);
  }

  /** A new config is being read; {@link ready} ends it. */
  reloading(): Promise<void> {
    return this.#say('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  }

  stopping(): Promise<void> {
    clearInterval(this.#timer);
    return this.#say('STOPPING=1');
  }

  /**
   * Pings the watchdog twice in each of its periods, where the unit has one (WATCHDOG_USEC), as long as `isWell`. An
   * event loop that hangs pings no more by itself.
   */
  watch(isWell: () => boolean): void {
    const periodMs = Number(this.#env.WATCHDOG_USEC) / 1000;
    const pid = this.#env.WATCHDOG_PID;
    clearInterval(this.#timer);
    if (this.#isMute || !(periodMs > 0) || (pid !== undefined && Number(pid) !== process.pid)) return;
    this.#timer = setInterval(() => void (isWell() && this.#say('WATCHDOG=1')), periodMs / 2);
    this.#timer.unref();
  }

  /** One after the other: the last word has to be heard last. */
  #say(...words: readonly string[]): Promise<void> {
    this.#last = this.#last.then(() => this.#send(words));
    return this.#last;
  }

  async #send(words: readonly string[]): Promise<void> {
    if (this.#isMute) return;
    const { PATH, NOTIFY_SOCKET } = this.#env;
    try {
      await run('systemd-notify', words, { env: { PATH, NOTIFY_SOCKET }, timeout: longestMs });
    } catch (error) {
      this.#isMute = (error as NodeJS.ErrnoException).code === 'ENOENT';
      this.#log.warn('failed to notify systemd', { words: words[0], error: String(error) });
    }
  }
}
