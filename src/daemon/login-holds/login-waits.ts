import type { Source } from '../../config/config.ts';
import type { Problem } from '../../lib/problem.ts';
import { type Firing, newRunOf } from '../firing/firing.ts';
import type { WaitingFirings } from '../firing/waiting-firings.ts';
import { type LoginBreaker, nameOf } from './login-breaker.ts';
import { onHold } from './problem.ts';

interface LoginWaitsOptions {
  readonly gate: LoginBreaker;
  readonly waiting: WaitingFirings;
  readonly fire: (firing: Firing) => void;
  /** A job's source in the active config. */
  readonly sourceOf: (job: string) => Source | undefined;
  /** Aborted when the daemon stops. */
  readonly stop: AbortSignal;
}

/**
 * Firings whose source login is on hold. When a login attempt is due, one of the firings makes it. All of them run once
 * the hold is lifted, even by another process. Otherwise, a one-minute outage of a directory server could cost a daily
 * job its run.
 */
export class LoginWaits {
  readonly #options: LoginWaitsOptions;
  /** Accounts with an attempt in progress, each with the firing that is making it. */
  readonly #trying = new Map<string, Firing>();

  constructor(options: LoginWaitsOptions) {
    this.#options = options;
  }

  /** Defers a firing that failed because its login was refused. Returns false if the problem has another cause. */
  defer(firing: Firing, problem: Problem | undefined): boolean {
    if (this.#options.stop.aborted || !isToWait(firing, problem)) return false;
    const next = newRunOf(firing);
    this.#options.waiting.add(next, () => this.#check(next));
    return true;
  }

  async #check(firing: Firing): Promise<(() => void) | undefined> {
    const { gate, sourceOf, fire } = this.#options;
    const source = sourceOf(firing.job.name);
    const hold = source === undefined ? undefined : await gate.find(source);
    if (hold === undefined) return () => fire(firing);
    const login = nameOf(hold);
    return gate.isDue(hold) && !this.#trying.has(login) ? () => this.#try(firing, login) : undefined;
  }

  /** Runs one of the firings that wait for the account. */
  #try(firing: Firing, login: string): void {
    this.#trying.set(login, firing);
    this.#options.fire(firing);
  }

  /** Call this when a firing is done. If it made an attempt, another firing may make the next one. */
  done(firing: Firing): void {
    for (const [login, one] of this.#trying) if (one === firing) this.#trying.delete(login);
  }
}

/** Whether a firing that failed with this problem has to wait for its login. */
export function isToWait({ job: { schedule } }: Pick<Firing, 'job'>, problem: Problem | undefined): boolean {
  // With misfire policy `skip`, missed firings aren't caught up, so this one isn't either.
  if (schedule?.misfire?.policy === 'skip') return false;
  return problem?.isLoginRefused === true || problem?.code === onHold;
}
