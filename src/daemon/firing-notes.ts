import { clockSetText, noteClockSet } from './clock-note.ts';
import type { Runtime } from './compose.ts';
import type { Firing, PassedOver } from './firing.ts';

interface FiringNotesOptions {
  readonly runtime: Pick<Runtime, 'store' | 'events' | 'clock'>;
  /** Told of what the state did not take. */
  readonly failed: (message: string, error: unknown, facts?: object) => void;
}

/** Firings that come to nothing, and clocks that were set: said and written down. */
export class FiringNotes {
  readonly #options: FiringNotesOptions;
  /** What is being written down. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: FiringNotesOptions) {
    this.#options = options;
  }

  /** `isCovered`: another firing of the job is written down and stays so. `isDeferred`: it waits, and the next start fires it. */
  skipped(firing: Firing, reason: string, how: { readonly isCovered: boolean; readonly isDeferred?: boolean }): void {
    const { job, at } = firing;
    const settle: Firing['settle'] = async (parts) => {
      await firing.settle(parts);
      if (how.isDeferred === true) await firing.defer(parts);
    };
    this.#skip({ job, first: at, last: at, firings: 1, ...(how.isCovered ? {} : { settle }) }, reason);
  }

  missed(passed: PassedOver): void {
    this.#skip(passed, 'they were missed, and the misfire policy passes them over');
  }

  /** The day does not reach for this firing: the job goes on with its next one. */
  async throttled({ job, at, settle }: Firing, reason: string): Promise<void> {
    const { store, events } = this.#options.runtime;
    await settle(store);
    events.emit('firing.throttled', { job: job.name, at, reason });
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
  #skip({ job: { name: job }, first, last, firings, settle }: PassedOver, reason: string): void {
    const { store, events } = this.#options.runtime;
    events.emit('firing.skipped', { job, at: first, firings, reason });
    const written = store.transaction(async (parts) => {
      await parts.skips.note({ job, reason, first, last, firings });
      await settle?.(parts);
    });
    this.write(
      written.catch((error: unknown) => this.#options.failed('failed to record a skipped firing', error, { job })),
    );
  }
}
