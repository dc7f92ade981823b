import type { Clock } from '../../lib/clock.ts';

interface PollOptions {
  readonly clock: Clock;
  /** The pause between two looks, in milliseconds. */
  readonly everyMs: number;
  readonly look: () => Promise<void>;
  /** Called when a look fails, but not for the failures that follow: an outage is one fault, however long it lasts. */
  readonly failed: (error: unknown) => void;
  /** Aborted when the process stops. */
  readonly stop: AbortSignal;
}

/** Looks at the state again and again, because its database doesn't announce changes. */
export class Poll {
  readonly #options: PollOptions;
  #nap = new AbortController();
  #polling: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(options: PollOptions) {
    this.#options = options;
  }

  start(): void {
    this.#polling = this.#poll();
  }

  /** Looks now. */
  nudge(): void {
    this.#nap.abort();
  }

  /** Resolves after the last look. The poll must be stopping. */
  async idle(): Promise<void> {
    await this.#polling;
  }

  async #poll(): Promise<void> {
    const { clock, everyMs, stop } = this.#options;
    while (!stop.aborted) {
      this.#nap = new AbortController();
      await this.#look();
      await clock.sleep(everyMs, AbortSignal.any([stop, this.#nap.signal])).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#options.look();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.failed(error);
      this.#isFailing = true;
    }
  }
}
