import type { AlertChannel, Alerts } from '../config/alerts.ts';
import { exponentialMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import { redact } from '../lib/redact.ts';
import type { Store } from '../state/store.ts';
import type { AlertMessageRow } from '../state/tables.ts';
import type { AlertEvent, Post, Sent } from './channel.ts';
import type { AlertEvents } from './events.ts';
import { sendTo } from './send-to.ts';

/** Exponential backoff after failed attempts to send a message. A message expires after a day. */
const firstWaitMs = 10_000;
const maxWaitMs = 3_600_000;
const maxAgeMs = 86_400_000;

export interface MessengerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<AlertEvents>;
  /** The config's folder. */
  readonly folder: string;
  readonly alerts: Alerts;
}

/**
 * Sends queued messages to their channels. Only one process sends at a time. Each channel receives its messages in
 * order and independently of other channels, so that a broken channel doesn't delay the others. A message is removed
 * after the receiver has accepted it. If the process dies before the removal, the message is sent again with the same
 * ID.
 */
export class Messenger {
  readonly #given: MessengerOptions;

  constructor(given: MessengerOptions) {
    this.#given = given;
  }

  /**
   * Sends the messages that are due now. Returns the time of the next attempt (epoch ms), or undefined if no message is
   * waiting.
   */
  async sendDue(signal: AbortSignal): Promise<number | undefined> {
    const { store, alerts } = this.#given;
    const byChannel = Map.groupBy(await store.alerts.waiting(), ({ channel }) => channel);
    const waits = [...byChannel].map(([name, rows]) => this.#sendChannel(alerts.channels.get(name), { rows, signal }));
    const next = (await Promise.all(waits)).filter((at) => at !== undefined);
    return next.length === 0 ? undefined : Math.min(...next);
  }

  async #sendChannel(
    channel: AlertChannel | undefined,
    { rows, signal }: { rows: readonly AlertMessageRow[]; signal: AbortSignal },
  ): Promise<number | undefined> {
    const { store, clock } = this.#given;
    const name = rows[0]!.channel;
    const lease = await store.leases.take(`alerts:${name}`);
    if (lease === undefined) return clock.now() + firstWaitMs;
    try {
      // The messages are read again under the lease, because another process may have sent them in the meantime.
      const waiting = (await store.alerts.waiting()).filter((row) => row.channel === name);
      for (const row of waiting) {
        if (signal.aborted) return undefined;
        const next = await this.#sendOne(channel, row, signal);
        if (next !== undefined) return next;
      }
      return undefined;
    } finally {
      await lease.release();
    }
  }

  /** Returns the time of the next attempt; undefined if no attempt is due later. */
  async #sendOne(
    channel: AlertChannel | undefined,
    row: AlertMessageRow,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { store, clock, emit } = this.#given;
    const { sequence, id, title, attempts } = row;
    const now = clock.now();
    if (now - row.made_at > maxAgeMs) {
      const problem = row.problem ?? 'not sent within a day';
      await store.alerts.giveUp(sequence, problem);
      emit('alert.given_up', { channel: row.channel, id, title, problem });
      return undefined;
    }
    // Another config may use the same state and contain this channel, although the current config doesn't.
    if (channel === undefined) return row.made_at + maxAgeMs + 1;
    if (row.next_at > now && row.next_at - now <= maxWaitMs) return row.next_at;
    emit('alert.sending', { channel: channel.name, id, attempt: attempts + 1 });
    const sent = await this.#post(channel, row, signal);
    if (signal.aborted && !sent.ok) return undefined;
    if (sent.ok) {
      await store.alerts.sent(sequence);
      emit('alert.sent', { channel: channel.name, id, title });
      return undefined;
    }
    const problem = redact(sent.message);
    const nextAt = clock.now() + waitAfter(attempts, sent.retryAfterMs);
    await store.alerts.postpone(sequence, { problem, nextAt });
    emit('alert.unsent', { channel: channel.name, id, attempt: attempts + 1, problem, until: nextAt });
    return nextAt;
  }

  async #post(channel: AlertChannel, { id, body }: AlertMessageRow, signal: AbortSignal): Promise<Sent> {
    const { clock, folder } = this.#given;
    const post: Post = { id, body, event: JSON.parse(body) as AlertEvent };
    try {
      return await sendTo(channel, post, { signal, folder, now: clock.now() });
    } catch (thrown) {
      return { ok: false, message: String(thrown) };
    }
  }
}

function waitAfter(attempts: number, asked = 0): number {
  return Math.min(maxWaitMs, Math.max(asked, exponentialMs(attempts, { firstMs: firstWaitMs, maxMs: maxWaitMs })));
}
