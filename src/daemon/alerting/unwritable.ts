import { composeBulletin } from '../../alerts/compose.ts';
import type { AlertEvents } from '../../alerts/events.ts';
import { sendTo } from '../../alerts/send-to.ts';
import { stateSubject } from '../../alerts/words.ts';
import type { Alerts } from '../../config/alerts.ts';
import type { Config } from '../../config/config.ts';
import { acceptsAlerts } from '../../config/options/alerts.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Emit } from '../../lib/events.ts';
import type { Problem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import { raisedFacts } from './raised-facts.ts';
import { limitsOf, routeOf } from './route.ts';

interface UnwritableOptions {
  readonly clock: Clock;
  readonly emit: Emit<AlertEvents>;
  readonly signal: AbortSignal;
}

interface OpenAlert {
  readonly since: number;
  readonly what: string;
  /** The time when each channel last accepted the message. */
  readonly taken: Map<string, number>;
}

/**
 * The alert that the state isn't writable. It's the only alert that can't be stored before it's sent. The process keeps
 * it in memory, sends it to each channel until the channel accepts it, and repeats it after `remind`.
 */
export class UnwritableAlert {
  readonly #given: UnwritableOptions;
  #open: OpenAlert | undefined;

  constructor(given: UnwritableOptions) {
    this.#given = given;
  }

  /**
   * Reports the problem, or the problem's end. `problem` says why the state isn't writable. It's undefined if the state
   * is writable.
   */
  async report(problem: Problem | undefined, config: Config, alerts: Alerts): Promise<void> {
    const open = this.#open;
    if (problem !== undefined) {
      const what = redact(`${problem.code}: ${problem.message} (${problem.seen})`);
      this.#open ??= { since: this.#given.clock.now(), what, taken: new Map() };
      await this.#send(this.#open, { config, alerts, isOver: false, next: problem.next });
    } else if (open !== undefined) {
      this.#open = undefined;
      if (alerts.recovery) await this.#send(open, { config, alerts, isOver: true });
    }
  }

  async #send(
    { since, what, taken }: OpenAlert,
    { config, alerts, isOver, next }: { config: Config; alerts: Alerts; isOver: boolean; next?: string | undefined },
  ): Promise<void> {
    const { clock, emit, signal } = this.#given;
    const now = clock.now();
    const { remindMs } = limitsOf(undefined, alerts);
    const isDue = (channel: string): boolean =>
      isOver ? taken.has(channel) : clock.monotonic() - (taken.get(channel) ?? Number.NEGATIVE_INFINITY) >= remindMs;
    const to = routeOf({ occasion: 'disk' }, alerts).filter(isDue);
    if (to.length === 0) return;
    const mention = { subject: stateSubject, level: 2, since, what, code: null };
    const news = isOver
      ? { kind: 'recovered' as const, fresh: [], open: [], recovered: [mention] }
      : { kind: 'opened' as const, fresh: [mention], open: [mention], recovered: [] };
    const bulletin = { occasion: 'disk' as const, to, ...news };
    const detail = next === undefined ? undefined : { fix: next };
    const event = composeBulletin(bulletin, { now, file: config.file, detailOf: () => detail });
    emit('alert.raised', raisedFacts(bulletin));
    const { id, title } = event.data;
    const post = { id, event, body: JSON.stringify(event) };
    for (const name of to) {
      const channel = alerts.channels.get(name);
      if (channel === undefined || !acceptsAlerts(channel)) continue;
      const sent = await sendTo(channel, post, { signal, now, folder: config.folder });
      if (sent.ok) taken.set(name, clock.monotonic());
      if (sent.ok) emit('alert.sent', { channel: name, id, title });
      else emit('alert.unsent', { channel: name, id, attempt: 1, problem: redact(sent.message), until: now });
    }
  }
}
