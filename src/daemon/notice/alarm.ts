import { book } from '../../alerts/book.ts';
import { Heartbeats } from '../../alerts/heartbeats.ts';
import { Messenger } from '../../alerts/messenger.ts';
import type { Alerts } from '../../config/alerts.ts';
import type { Config } from '../../config/config.ts';
import type { SluiceEvents } from '../events.ts';
import type { Beat } from '../pulse.ts';
import type { Runtime } from '../wire.ts';
import { describe } from './describe.ts';
import { Lookout } from './look.ts';
import { raisedFacts } from './raised-facts.ts';
import { UnwritableAlert } from './unwritable.ts';

/** What nobody tells of (time passes, other processes work) is noticed this often. */
const lookEveryMs = 60_000;
/** A thousand events in a second are one look; where there are so many jobs that a look takes long, it is rarer. */
const restMs = 1_000;
const restFactor = 20;

export interface AlarmGiven {
  readonly runtime: Pick<Runtime, 'store' | 'events' | 'clock' | 'log'>;
  /** The config that is in force now. */
  readonly config: () => Config;
  /** How the schedules are, as far as this process can tell. */
  readonly beat: () => Promise<Beat | undefined>;
}

/** What may have changed what people are to hear of. */
const telling: ReadonlySet<keyof SluiceEvents> = new Set([
  'run.finished',
  'payload.quarantined',
  'payload.approved',
  'payload.discarded',
  'payload.dead',
  'payload.delivered',
  'payload.superseded',
  'login.refused',
  'token.refused',
  'token.kept',
  'quota.spent',
  'quota.turned',
  'config.reloaded',
  'config.refused',
  'source.answered',
  'source.silent',
  'source.held',
  'source.resumed',
  'clock.set',
  'state.unwritable',
  'state.writable',
]);

/**
 * Keeps looking for what people want to hear of, and tells them, as long as the daemon runs. Works beside it: whatever is
 * wrong with a channel, or with this, stops neither job nor delivery.
 */
export class Alarm {
  readonly #given: AlarmGiven;
  readonly #lookout = new Lookout();
  readonly #unwritable: UnwritableAlert;
  readonly #stop = new AbortController();
  #nap = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #sending: Promise<void> | undefined;
  #sendAt: number | undefined;
  /** When the loop means to look again. */
  #wakeAt = 0;
  #heartbeats: { readonly alerts: Alerts; readonly beats: Heartbeats } | undefined;
  #deaf: () => void = () => undefined;

  constructor(given: AlarmGiven) {
    this.#given = given;
    const { clock, events } = given.runtime;
    this.#unwritable = new UnwritableAlert({ clock, emit: events.emit, signal: this.#stop.signal });
  }

  start(): void {
    this.#deaf = this.#given.runtime.events.listen((...event) => this.#hear(...event));
    this.#loop = this.#run();
  }

  /** Something has changed that no event tells of. */
  look(): void {
    this.#nap.abort();
  }

  /** Ends at once: what is owed to channels stays owed, and the next start sends it. */
  async stop(): Promise<void> {
    this.#deaf();
    this.#stop.abort();
    this.#nap.abort();
    await this.#loop;
    await Promise.all([this.#sending, this.#heartbeats?.beats.settled()]);
  }

  #hear(...[name, facts]: Parameters<Runtime['events']['emit']>): void {
    if (name === 'payload.delivered' || name === 'payload.unchanged') this.#beatsNow()?.good(facts.job);
    if (name === 'run.finished' && ['unchanged', 'refreshed'].includes(facts.outcome))
      this.#beatsNow()?.good(facts.job);
    if (telling.has(name)) this.#nap.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, log } = this.#given.runtime;
    while (!signal.aborted) {
      this.#nap = new AbortController();
      const began = clock.monotonic();
      const wait = await this.#round().catch((error: unknown) => {
        log.error('alert check failed', { error: String(error) });
        return lookEveryMs;
      });
      const rest = Math.min(lookEveryMs, Math.max(restMs, restFactor * (clock.monotonic() - began)));
      await this.#sleep(Math.min(wait, lookEveryMs));
      // Stopping ends this rest too.
      await clock.sleep(rest, signal).catch(() => undefined);
    }
  }

  /** One look, and what follows from it. Returns milliseconds to the next one. */
  async #round(): Promise<number> {
    const { runtime, config: current } = this.#given;
    const { store, clock, events } = runtime;
    const config = current();
    const { alerts } = config;
    if (alerts === undefined) return lookEveryMs;
    const unwritable = store.unwritable();
    await this.#unwritable.tell(unwritable, config, alerts);
    // Nothing else can be written down, so nothing else is told.
    if (unwritable !== undefined) return lookEveryMs;
    const beat = await this.#given.beat();
    const seen = await this.#lookout.look({ config, alerts, store, clock, beat });
    const { bulletins, dueAt } = await book(
      {
        store,
        alerts,
        file: config.file,
        now: clock.now(),
        describe: (subject, occasion) =>
          describe(subject, { occasion, config, store, clock, cache: this.#lookout.cache }),
      },
      seen,
    );
    for (const bulletin of bulletins) events.emit('alert.raised', raisedFacts(bulletin));
    this.#send(config, alerts);
    const beating = beat?.ticking === true ? (this.#beatsNow()?.tick() ?? lookEveryMs) : lookEveryMs;
    const next = [dueAt, this.#sendAt].filter((at) => at !== undefined).map((at) => at - clock.now());
    return Math.max(0, Math.min(lookEveryMs, beating, ...next));
  }

  /** One at a time, beside the looking: a slow channel keeps no other news waiting. */
  #send({ folder }: Config, alerts: Alerts): void {
    if (this.#sending !== undefined) return;
    const { store, clock, events, log } = this.#given.runtime;
    const { signal } = this.#stop;
    const messenger = new Messenger({ store, clock, emit: events.emit, folder, alerts });
    this.#sending = messenger
      .sendDue(signal)
      .then((at) => {
        this.#sendAt = at;
      })
      .catch((error: unknown) => log.error('alerts could not be sent', { error: String(error) }))
      .finally(() => {
        this.#sending = undefined;
        // It may be due before the loop means to look again.
        if (this.#sendAt !== undefined && this.#sendAt < this.#wakeAt) this.#nap.abort();
      });
  }

  /** Those of the config in force. */
  #beatsNow(): Heartbeats | undefined {
    const { runtime, config } = this.#given;
    const { alerts, folder } = config();
    if (alerts === undefined || this.#stop.signal.aborted) return undefined;
    if (this.#heartbeats?.alerts !== alerts) {
      const { clock, events, store } = runtime;
      const beats = new Heartbeats({ alerts, store, clock, emit: events.emit, folder, signal: this.#stop.signal });
      this.#heartbeats = { alerts, beats };
    }
    return this.#heartbeats.beats;
  }

  async #sleep(milliseconds: number): Promise<void> {
    this.#wakeAt = this.#given.runtime.clock.now() + milliseconds;
    const until = AbortSignal.any([this.#nap.signal, this.#stop.signal]);
    await this.#given.runtime.clock.sleep(milliseconds, until).catch(() => undefined);
  }
}
