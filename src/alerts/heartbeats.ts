import type { ChannelNamed } from '../config/alerts.ts';
import { redact } from '../lib/redact.ts';
import { ping } from './channels/heartbeat.ts';
import type { MessengerOptions } from './messenger.ts';

type HeartbeatTarget = ChannelNamed<'heartbeat'>;

export interface HeartbeatsOptions extends MessengerOptions {
  readonly signal: AbortSignal;
}

/**
 * Heartbeat (dead man's switch): a ping after each good result of a job, or at an interval. The receiver raises the
 * alarm if the pings stop. Failed pings aren't repeated.
 */
export class Heartbeats {
  readonly #given: HeartbeatsOptions;
  readonly #channels: readonly HeartbeatTarget[];
  readonly #underway = new Map<string, Promise<void>>();
  /** When the last ping was sent, on the monotonic clock. */
  readonly #last = new Map<string, number>();

  constructor(given: HeartbeatsOptions) {
    this.#given = given;
    this.#channels = [...given.alerts.channels.values()].filter((channel) => channel.type === 'heartbeat');
  }

  /** Call this when a job delivered data, or when its data was unchanged. */
  good(job: string): void {
    for (const channel of this.#channels) if (channel.jobs.includes(job)) this.#ping(channel);
  }

  /** Pings the channels that have an interval, if they are due. Returns the milliseconds until the next ping. */
  tick(): number {
    let wait = Number.POSITIVE_INFINITY;
    for (const channel of this.#channels) {
      if (channel.jobs.length > 0) continue;
      const every = channel.everyMs;
      const last = this.#last.get(channel.name) ?? Number.NEGATIVE_INFINITY;
      const now = this.#given.clock.monotonic();
      if (now - last >= every) {
        this.#last.set(channel.name, now);
        this.#ping(channel);
        wait = Math.min(wait, every);
      } else wait = Math.min(wait, last + every - now);
    }
    return wait;
  }

  /** Resolves when no ping is in progress. */
  async settled(): Promise<void> {
    await Promise.all(this.#underway.values());
  }

  #ping(channel: HeartbeatTarget): void {
    if (this.#underway.has(channel.name)) return;
    const { signal, emit } = this.#given;
    const pinged = this.#beat(channel)
      .catch((error: unknown) => ({ problem: redact(String(error)) }))
      .then(({ problem }) => {
        this.#underway.delete(channel.name);
        if (problem !== undefined && !signal.aborted) emit('heartbeat.failed', { channel: channel.name, problem });
      });
    this.#underway.set(channel.name, pinged);
  }

  /** Records the result, which the list of channels shows. An aborted ping has no result. */
  async #beat(channel: HeartbeatTarget): Promise<{ problem?: string }> {
    const { clock, folder, signal, store } = this.#given;
    const { ok, message } = await ping(channel, { signal, folder, now: clock.now() });
    const problem = ok ? {} : { problem: redact(message) };
    if (!signal.aborted) await store.alerts.beaten(channel.name, problem);
    return problem;
  }
}
