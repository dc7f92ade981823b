import type { ChannelNamed } from '../config/alerts.ts';
import { redact } from '../lib/redact.ts';
import { ping } from './channels/heartbeat.ts';
import type { MessengerOptions } from './messenger.ts';

type HeartbeatTarget = ChannelNamed<'heartbeat'>;

export interface HeartbeatsOptions extends MessengerOptions {
  readonly signal: AbortSignal;
}

/**
 * Heartbeat (dead man's switch): sends a ping after each successful run of a job, or at an interval. If the pings stop,
 * the receiver raises an alarm. Failed pings aren't repeated.
 */
export class Heartbeats {
  readonly #given: HeartbeatsOptions;
  readonly #channels: readonly HeartbeatTarget[];
  readonly #underway = new Map<string, Promise<void>>();
  /** The time of the last ping, on the monotonic clock. */
  readonly #last = new Map<string, number>();

  constructor(given: HeartbeatsOptions) {
    this.#given = given;
    this.#channels = [...given.alerts.channels.values()].filter((channel) => channel.type === 'heartbeat');
  }

  /** Call this when a job has delivered data or its data was unchanged. */
  good(job: string): void {
    for (const channel of this.#channels) if (channel.jobs.includes(job)) this.#ping(channel);
  }

  /**
   * Sends pings to the channels that have an interval and are due. Returns the number of milliseconds until the next
   * ping.
   */
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

  /** Resolves when no ping is being sent. */
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

  /** Records the result for the list of channels. An aborted ping has no result. */
  async #beat(channel: HeartbeatTarget): Promise<{ problem?: string }> {
    const { clock, folder, signal, store } = this.#given;
    const { ok, message } = await ping(channel, { signal, folder, now: clock.now() });
    const problem = ok ? {} : { problem: redact(message) };
    if (!signal.aborted) await store.alerts.beaten(channel.name, problem);
    return problem;
  }
}
