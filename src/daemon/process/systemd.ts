import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { countOf } from '../../lib/count-text.ts';
import type { Log } from '../../lib/log.ts';

const run = promisify(execFile);
/** Timeout for `systemd-notify`, which sends a message and waits for systemd's acknowledgment. */
const timeoutMs = 5_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Notifies systemd according to sd_notify(3). Node can't open Unix datagram sockets, so this class runs
 * `systemd-notify`, which exists on every machine with systemd. The unit needs `NotifyAccess=all`. Does nothing if
 * NOTIFY_SOCKET isn't set.
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

  /**
   * Reports that the config is active and that jobs are firing. Must also be called after each reload. `remark` is
   * additional status text.
   */
  ready(jobs: number, remark?: string): Promise<void> {
    const more = remark === undefined ? '' : `; ${remark}`;
    return this.#say('READY=1', `STATUS=${countOf(jobs, 'job')} active${more}`);
  }

  /**
   * Reports that this process is a standby. Otherwise, the service manager would wait until the active daemon exits.
   */
  reserve(holder: string): Promise<void> {
    this.watch(() => true);
    return this.#say('READY=1', `STATUS=standby: ${holder} uses the state`);
  }

  /** Reports that a config reload has started. {@link ready} reports that it has ended. */
  reloading(): Promise<void> {
    return this.#say('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  }

  stopping(): Promise<void> {
    clearInterval(this.#timer);
    return this.#say('STOPPING=1');
  }

  /**
   * Pings systemd's watchdog twice per period while `isWell` returns true, if the unit has a watchdog (WATCHDOG_USEC).
   * If the event loop hangs, no pings are sent.
   */
  watch(isWell: () => boolean): void {
    const periodMs = Number(this.#env.WATCHDOG_USEC) / 1000;
    const pid = this.#env.WATCHDOG_PID;
    clearInterval(this.#timer);
    if (this.#isMute || !(periodMs > 0) || (pid !== undefined && Number(pid) !== process.pid)) return;
    let isPinging = false;
    const ping = async (): Promise<void> => {
      // If the helper is slow, pings must not pile up: other messages, such as the last one, would have to wait for them.
      if (isPinging || !isWell()) return;
      isPinging = true;
      await this.#say('WATCHDOG=1');
      isPinging = false;
    };
    this.#timer = setInterval(ping, periodMs / 2);
    this.#timer.unref();
  }

  /** Sends messages one at a time, so that they arrive in order. */
  #say(...words: readonly string[]): Promise<void> {
    this.#last = this.#last.then(() => this.#send(words));
    return this.#last;
  }

  async #send(words: readonly string[]): Promise<void> {
    if (this.#isMute) return;
    const { PATH, NOTIFY_SOCKET } = this.#env;
    try {
      await run('systemd-notify', words, { env: { PATH, NOTIFY_SOCKET }, timeout: timeoutMs });
    } catch (error) {
      this.#isMute = (error as NodeJS.ErrnoException).code === 'ENOENT';
      this.#log.warn('failed to notify systemd', { words: words[0], error: String(error) });
    }
  }
}
