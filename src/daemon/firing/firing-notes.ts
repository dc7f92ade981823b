import type { SkippedFirings } from '../../schedule/misfire.ts';
import { jobLock } from '../../state/engine/lock-keys.ts';
import type { Runtime } from '../compose.ts';
import { clockSetText, noteClockSet } from '../process/clock-note.ts';
import type { DueFirings, Firing, FiringRecords } from './firing.ts';
import type { Scheduler } from './scheduler.ts';

interface FiringNotesOptions {
  readonly runtime: Pick<Runtime, 'store' | 'events' | 'clock'>;
  readonly scheduler: Scheduler;
  /** Aborted when the daemon stops. */
  readonly stop: AbortSignal;
  /** Called when writing to the state fails. */
  readonly failed: (message: string, error: unknown, facts?: object) => void;
}

/** Reports and records skipped firings and clock changes. */
export class FiringNotes {
  readonly #options: FiringNotesOptions;
  /** Writes to the store that are in progress. */
  #writing: Promise<unknown> = Promise.resolve();
  #throttling: Promise<void> = Promise.resolve();

  constructor(options: FiringNotesOptions) {
    this.#options = options;
  }

  /** `isDeferred` is true if the firing waits until the next start. */
  skipped(firing: Firing, reason: string, isDeferred = false): void {
    const { scheduler } = this.#options;
    const { at, job } = firing;
    this.#skip(job.name, { first: at, last: at, firings: 1 }, reason, async (parts) => {
      await scheduler.settle(job.name, parts, firing);
      if (isDeferred) await scheduler.defer(firing, parts);
    });
  }

  /**
   * Records missed firings that the misfire policy skips. If another firing runs instead, the beginning of its run
   * records when the job fires next.
   */
  missed({ job: { name }, firing, skipped }: DueFirings): void {
    if (skipped === undefined) return;
    this.#skip(name, skipped, 'the misfire policy skips missed firings', async (parts) => {
      if (firing === undefined) await this.#options.scheduler.settle(name, parts);
    });
  }

  /**
   * Records that the throttle skips this firing. Records are written one at a time, so that many of them don't keep
   * runs from writing to the state.
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
    // The firing stays recorded, and fires again after the next start.
    if (stop.aborted) return;
    const settle = (parts: FiringRecords) => scheduler.settle(job.name, parts, firing);
    await runtime.store.transactionOn([jobLock(job.name)], settle);
    runtime.events.emit('firing.throttled', { job: job.name, at, reason });
  }

  /** Stores the note first, because the event's subscribers read the store. */
  clockSet(by: number): void {
    const { failed, runtime } = this.#options;
    const { store, clock, events } = runtime;
    const noted = noteClockSet(store, { by, at: clock.now() })
      .catch((error: unknown) => failed('failed to record a clock change', error))
      .then(() => events.emit('clock.set', { seconds: Math.round(by / 1000), message: clockSetText(by) }));
    this.write(noted);
  }

  /** Makes {@link idle} wait for `work`, which must not throw. */
  write(work: Promise<unknown>): void {
    this.#writing = Promise.all([this.#writing, work]);
  }

  /** Resolves when all notes have been recorded. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  /** Emits the event now. Stores the note together with the time of the job's next firing. */
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
