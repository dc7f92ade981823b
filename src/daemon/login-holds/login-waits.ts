import type { Source } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Store } from '../../state/store.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import { type Firing, placeOfFiring } from '../scheduler.ts';
import type { LoginGate } from './gate.ts';
import { onHold } from './problem.ts';

/** Holds are looked at this often while a firing waits for one: other processes lift them as well. */
const lookEveryMs = 10_000;

interface LoginWaitsOptions {
  readonly gate: LoginGate;
  readonly clock: Clock;
  readonly fire: (firing: Firing) => void;
  /** The source that a job reads in the config in force. */
  readonly sourceOf: (job: string) => Source | undefined;
  readonly failed: (error: unknown) => void;
  /** The daemon stops. */
  readonly stop: AbortSignal;
}

/**
 * Firings whose source has its login on hold. When an attempt is due, one of them makes it, and all of them fire once the hold is
 * lifted: otherwise a daily job would lose its day to a directory server that was away for a minute.
 */
export class LoginWaits {
  readonly #given: LoginWaitsOptions;
  readonly #waiting = new Map<string, Firing>();
  /** Accounts whose attempt is on its way. */
  readonly #trying = new Set<string>();
  #isLooking = false;

  constructor(given: LoginWaitsOptions) {
    this.#given = given;
  }

  /** Keeps a firing that came to nothing because of a refused login. False where the problem is another one. */
  defer({ attempt: _, ...firing }: Firing, problem: Problem | undefined): boolean {
    const isOfLogin = problem?.isLoginRefused === true || problem?.code === onHold;
    // What is not made good when it is missed is not made good now.
    if (!isOfLogin || this.#given.stop.aborted || firing.job.schedule?.misfire?.policy === 'skip') return false;
    this.#waiting.set(placeOfFiring(firing), firing);
    void this.#look().catch(this.#given.failed);
    return true;
  }

  /** A newer firing takes the place of one that waits, unless each of them has a run of its own. */
  replaceBy(firing: Firing): void {
    this.#waiting.delete(placeOfFiring(firing));
  }

  /** Writes down what still waits, so that the next start fires it. */
  async giveBack(store: Store): Promise<void> {
    for (const firing of this.#waiting.values()) await firing.giveBack(store);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock, stop } = this.#given;
    try {
      while (this.#waiting.size > 0 && !stop.aborted) {
        await clock.sleep(lookEveryMs, stop).catch(() => undefined);
        if (!stop.aborted) await this.#fireReady();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #fireReady(): Promise<void> {
    const { gate, sourceOf } = this.#given;
    for (const [key, firing] of [...this.#waiting]) {
      const source = sourceOf(firing.job.name);
      const hold = source === undefined ? undefined : await gate.find(source);
      if (hold === undefined) this.#fire(key, firing);
      else if (gate.isDue(hold)) this.#try(key, firing, hold);
    }
  }

  #fire(key: string, firing: Firing): void {
    if (this.#waiting.delete(key)) this.#given.fire(firing);
  }

  /** One of all that wait for the account. */
  #try(key: string, firing: Firing, { connector, place, account, secret }: LoginHoldRow): void {
    const login = JSON.stringify([connector, place, account, secret]);
    if (this.#trying.has(login)) return;
    this.#trying.add(login);
    const done = (): void => {
      this.#trying.delete(login);
      firing.done();
    };
    this.#fire(key, { ...firing, done });
  }
}
