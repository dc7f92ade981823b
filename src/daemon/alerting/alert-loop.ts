import { book } from '../../alerts/book.ts';
import { Heartbeats } from '../../alerts/heartbeats.ts';
import { Messenger } from '../../alerts/messenger.ts';
import type { Alerts } from '../../config/alerts.ts';
import type { Config } from '../../config/config.ts';
import type { Runtime } from '../compose.ts';
import type { SluiceEvents } from '../events.ts';
import type { Liveness } from '../process/heartbeat.ts';
import { ConditionScanner } from './condition-scanner.ts';
import { describe } from './describe.ts';
import { raisedFacts } from './raised-facts.ts';
import { UnwritableAlert } from './unwritable.ts';

/** Polling interval for changes that don't emit an event: the passing of time and changes by other processes. */
const scanEveryMs = 60_000;
/** Debounce interval: a burst of events triggers only one scan. Slow scans run less often. */
const restMs = 1_000;
const restFactor = 20;

export interface AlertLoopOptions {
  readonly runtime: Pick<Runtime, 'store' | 'events' | 'clock' | 'log'>;
  readonly config: () => Config;
  /** Returns whether the schedules are running, as far as this process knows. */
  readonly liveness: () => Promise<Liveness | undefined>;
}

/** Events that may change the conditions. */
const relevantEvents: ReadonlySet<keyof SluiceEvents> = new Set([
  'run.finished',
  'payload.quarantined',
  'payload.approved',
  'payload.discarded',
  'payload.dead',
  'payload.delivered',
  'payload.superseded',
  'login.refused',
  'token.refused',
  'token.stored',
  'quota.spent',
  'quota.reset',
  'config.reloaded',
  'config.refused',
  'source.answered',
  'source.failed',
  'source.on_hold',
  'source.resumed',
  'clock.set',
  'state.unwritable',
  'state.writable',
]);

/**
 * Scans for conditions and sends alerts while the daemon runs. Failures are isolated: neither a broken channel nor a
 * bug in this loop stops jobs or delivery.
 */
export class AlertLoop {
  readonly #given: AlertLoopOptions;
  readonly #scanner = new ConditionScanner();
  readonly #unwritable: UnwritableAlert;
  readonly #stop = new AbortController();
  #pause = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #sending: Promise<void> | undefined;
  #sendAt: number | undefined;
  /** Time of the next scan. */
  #wakeAt = 0;
  #heartbeats: { readonly alerts: Alerts; readonly beats: Heartbeats } | undefined;
  #unsubscribe: () => void = () => undefined;

  constructor(given: AlertLoopOptions) {
    this.#given = given;
    const { clock, events } = given.runtime;
    this.#unwritable = new UnwritableAlert({ clock, emit: events.emit, signal: this.#stop.signal });
  }

  start(): void {
    this.#unsubscribe = this.#given.runtime.events.listen((...event) => this.#onEvent(...event));
    this.#loop = this.#run();
  }

  /** Scans immediately. Call this after a change that doesn't emit an event. */
  scanNow(): void {
    this.#pause.abort();
  }

  /** Stops immediately. The daemon sends pending messages after its next start. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stop.abort();
    this.#pause.abort();
    await this.#loop;
    await Promise.all([this.#sending, this.#heartbeats?.beats.settled()]);
  }

  #onEvent(...[name, facts]: Parameters<Runtime['events']['emit']>): void {
    if (name === 'payload.delivered' || name === 'payload.unchanged') this.#beatsNow()?.good(facts.job);
    if (name === 'run.finished' && ['unchanged', 'refreshed'].includes(facts.outcome))
      this.#beatsNow()?.good(facts.job);
    if (relevantEvents.has(name)) this.#pause.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, log } = this.#given.runtime;
    while (!signal.aborted) {
      this.#pause = new AbortController();
      const began = clock.monotonic();
      const wait = await this.#scan().catch((error: unknown) => {
        log.error('alert check failed', { error: String(error) });
        return scanEveryMs;
      });
      const rest = Math.min(scanEveryMs, Math.max(restMs, restFactor * (clock.monotonic() - began)));
      await this.#sleep(Math.min(wait, scanEveryMs));
      // When the loop is stopped, this pause is aborted and rejects.
      await clock.sleep(rest, signal).catch(() => undefined);
    }
  }

  /** Scans once and sends the messages that are due. Returns the time until the next scan in milliseconds. */
  async #scan(): Promise<number> {
    const { runtime, config: current } = this.#given;
    const { store, clock, events } = runtime;
    const config = current();
    const { alerts } = config;
    if (alerts === undefined) return scanEveryMs;
    const unwritable = store.unwritable();
    await this.#unwritable.report(unwritable, config, alerts);
    // No other condition can be recorded, so no other condition is reported.
    if (unwritable !== undefined) return scanEveryMs;
    const liveness = await this.#given.liveness();
    const seen = await this.#scanner.scan({ config, alerts, store, clock, liveness });
    const { bulletins, dueAt } = await book(
      {
        store,
        alerts,
        file: config.file,
        now: clock.now(),
        describe: (subject, occasion) =>
          describe(subject, { occasion, config, store, clock, cache: this.#scanner.cache }),
      },
      seen,
    );
    for (const bulletin of bulletins) events.emit('alert.raised', raisedFacts(bulletin));
    this.#send(config, alerts);
    const beating = liveness?.ticking === true ? (this.#beatsNow()?.tick() ?? scanEveryMs) : scanEveryMs;
    const next = [dueAt, this.#sendAt].filter((at) => at !== undefined).map((at) => at - clock.now());
    return Math.max(0, Math.min(scanEveryMs, beating, ...next));
  }

  /**
   * Sends messages one at a time. Scans continue in the meantime, so that a slow channel doesn't delay other alerts.
   */
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
      .catch((error: unknown) => log.error('failed to send alerts', { error: String(error) }))
      .finally(() => {
        this.#sending = undefined;
        // A message's next retry may be due before the next scan.
        if (this.#sendAt !== undefined && this.#sendAt < this.#wakeAt) this.#pause.abort();
      });
  }

  /** Returns the heartbeats that the active config defines. */
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
    const until = AbortSignal.any([this.#pause.signal, this.#stop.signal]);
    await this.#given.runtime.clock.sleep(milliseconds, until).catch(() => undefined);
  }
}
