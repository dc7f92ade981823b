import type { SkippedFirings } from '../../schedule/misfire.ts';
import type { Runtime } from '../compose.ts';
import { clockSetText, noteClockSet } from '../process/clock-note.ts';
import type { DueFirings, Firing, FiringRecords } from './firing.ts';
import type { Scheduler } from './scheduler.ts';

interface FiringNotesOptions {
  readonly runtime: Pick<Runtime, 'store' | 'events' | 'clock'>;
  readonly scheduler: Scheduler;
  /** The daemon stops. */
  readonly stop: AbortSignal;
  /** Told of what the state did not take. */
  readonly failed: (message: string, error: unknown, facts?: object) => void;
}

/** Firings that come to nothing, and clocks that were set: said and written down. */
export class FiringNotes {
  readonly #options: FiringNotesOptions;
  /** What is being written down. */
  #writing: Promise<unknown> = Promise.resolve();
  #throttling: Promise<void> = Promise.resolve();

  constructor(options: FiringNotesOptions) {
    this.#options = options;
  }

  /** `isDeferred`: it waits, and the next start fires it. */
  skipped(firing: Firing, reason: string, isDeferred = false): void {
    const { scheduler } = this.#options;
    const { at, job } = firing;
    this.#skip(job.name, { first: at, last: at, firings: 1 }, reason, async (parts) => {
      await scheduler.settle(job.name, parts, firing);
      if (isDeferred) await scheduler.defer(firing, parts);
    });
  }

  /** The run that fires instead, if there is one, settles when the job fires next. */
  missed({ job: { name }, firing, skipped }: DueFirings): void {
    if (skipped === undefined) return;
    this.#skip(name, skipped, 'they were missed, and the misfire policy passes them over', async (parts) => {
      if (firing === undefined) await this.#options.scheduler.settle(name, parts);
    });
  }

  /**
   * Records that the day has no room for this firing: the job continues with its next one. Firings are recorded one at a
   * time, so that many of them don't keep runs waiting for the state.
   */
  throttled(firing: Firing, reason: string): Promise<void> {
    const noted = this.#throttling.then(() => this.#noteThrottled(firing, reason));
    this.#throttling = noted.catch(() => undefined);
    this.write(this.#throttling);
    return noted;
  }

  async #noteThrottled(firing: Firing, reason: string): Promise<void> {
    const { runtime, scheduler, stop } = this.#options;
    const { job, at } = firing;
    // The next start fires it.
    if (stop.aborted) return;
    await scheduler.settle(job.name, runtime.store, firing);
    runtime.events.emit('firing.throttled', { job: job.name, at, reason });
  }

  /** Kept first: who hears of it looks into the store. */
  clockSet(by: number): void {
    const { failed, runtime } = this.#options;
    const { store, clock, events } = runtime;
    const noted = noteClockSet(store, { by, at: clock.now() })
      .catch((error: unknown) => failed('failed to record a clock change', error))
      .then(() => events.emit('clock.set', { seconds: Math.round(by / 1000), message: clockSetText(by) }));
    this.write(noted);
  }

  /** Waits for `work`, which must not throw, before {@link idle}. */
  write(work: Promise<unknown>): void {
    this.#writing = Promise.all([this.#writing, work]);
  }

  /** Resolves when all of it is written down. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  /** Said at once, and written down together with when the job fires next. */
  #skip(
    job: string,
    { first, last, firings }: SkippedFirings,
    reason: string,
    settle: (parts: FiringRecords) => Promise<void>,
  ): void {
    const { store, events } = this.#options.runtime;
    events.emit('firing.skipped', { job, at: first, firings, reason });
    const written = store.transaction(async (parts) => {
      await parts.skips.note({ job, reason, first, last, firings });
      await settle(parts);
    });
    this.write(
      written.catch((error: unknown) => this.#options.failed('failed to record a skipped firing', error, { job })),
    );
  }
}
