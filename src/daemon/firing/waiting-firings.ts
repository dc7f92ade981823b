import type { Clock } from '../../lib/clock.ts';
import { type Firing, placeOfFiring } from './firing.ts';

/** What firings wait for is checked this often while there are any. */
const checkEveryMs = 10_000;

/** A firing, and the check whether it may go: resolves with what fires it, or with undefined as long as it has to wait. */
interface Waiting {
  readonly firing: Firing;
  readonly check: () => Promise<(() => void) | undefined>;
}

interface WaitingFiringsOptions {
  readonly clock: Clock;
  /** Told if a check throws; the firings go on waiting. */
  readonly failed: (error: unknown) => void;
  /** The daemon stops. */
  readonly stop: AbortSignal;
}

/** Firings that wait for a condition outside of the daemon, polled while there are any; the newest of each job takes the place. */
export class WaitingFirings {
  readonly #options: WaitingFiringsOptions;
  readonly #waiting = new Map<string, Waiting>();
  #isPolling = false;

  constructor(options: WaitingFiringsOptions) {
    this.#options = options;
  }

  add(firing: Firing, check: Waiting['check']): void {
    this.#waiting.set(placeOfFiring(firing), { firing, check });
    void this.#poll();
  }

  /** A newer firing takes the place of one that waits, unless each of them has a run of its own. */
  replaceBy(firing: Firing): void {
    this.#waiting.delete(placeOfFiring(firing));
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const { clock, stop, failed } = this.#options;
    while (this.#waiting.size > 0 && !stop.aborted) {
      await clock.sleep(checkEveryMs, stop).catch(() => undefined);
      await this.#fireReady().catch(failed);
    }
    this.#isPolling = false;
  }

  async #fireReady(): Promise<void> {
    for (const [key, waiting] of [...this.#waiting]) {
      if (this.#options.stop.aborted) return;
      const fire = await waiting.check();
      // Another may have taken its place meanwhile.
      if (fire === undefined || this.#waiting.get(key) !== waiting) continue;
      this.#waiting.delete(key);
      fire();
    }
  }
}
