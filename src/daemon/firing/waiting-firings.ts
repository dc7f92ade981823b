import type { Clock } from '../../lib/clock.ts';
import { type Firing, placeOfFiring } from './firing.ts';

/** Polling interval while firings are waiting for a condition. */
const checkEveryMs = 10_000;

/**
 * A waiting firing and the condition that it waits for. `check` resolves to the function that fires the firing, or to
 * undefined if the firing must keep waiting. All checks of one poll get the same object, under which they can share what
 * they look up.
 */
interface Waiting {
  readonly firing: Firing;
  readonly check: (poll: object) => Promise<(() => void) | undefined>;
}

interface WaitingFiringsOptions {
  readonly clock: Clock;
  /** Called at most once per poll, if any check throws. The affected firings keep waiting. */
  readonly failed: (error: unknown) => void;
  /** Aborted when the daemon stops. */
  readonly stop: AbortSignal;
}

/**
 * Firings that wait for a condition outside the daemon, such as a login or the disk. Polls only while firings are
 * waiting. A job's newest firing replaces an older one.
 */
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

  /** A newer firing replaces a waiting one unless each of them has a run of its own. */
  replaceBy(firing: Firing): void {
    this.#waiting.delete(placeOfFiring(firing));
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    const { clock, stop, failed } = this.#options;
    while (this.#waiting.size > 0 && !stop.aborted) {
      await clock.sleep(checkEveryMs, stop).catch(() => undefined);
      const errors = await this.#fireReady();
      if (errors.length > 0) failed(errors[0]);
    }
    this.#isPolling = false;
  }

  /** Fires the firings whose checks succeed. Returns the errors that checks threw. */
  async #fireReady(): Promise<unknown[]> {
    const errors: unknown[] = [];
    const poll = {};
    for (const [key, waiting] of [...this.#waiting]) {
      if (this.#options.stop.aborted) break;
      const fire = await waiting.check(poll).catch((error: unknown) => void errors.push(error));
      // Another firing may have replaced this one while the check was running.
      if (fire === undefined || this.#waiting.get(key) !== waiting) continue;
      this.#waiting.delete(key);
      fire();
    }
    return errors;
  }
}
