import type { Source } from '../../config/config.ts';
import type { Problem } from '../../lib/problem.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import { type Firing, newRunOf } from '../firing/firing.ts';
import type { WaitingFirings } from '../firing/waiting-firings.ts';
import { type LoginBreaker, nameOf } from './login-breaker.ts';
import { onHold } from './problem.ts';

interface LoginWaitsOptions {
  readonly gate: LoginBreaker;
  readonly waiting: WaitingFirings;
  readonly fire: (firing: Firing) => void;
  /** Returns the job's source in the active config. */
  readonly sourceOf: (job: string) => Source | undefined;
  /** Aborted when the daemon stops. */
  readonly stop: AbortSignal;
}

/**
 * Firings that wait because their source's login is on hold. When a login attempt is due, one of the firings makes it.
 * All of them run once the hold ends, even if another process ended it. Otherwise, a one-minute outage of a directory
 * server could cost a daily job its run.
 */
export class LoginWaits {
  readonly #options: LoginWaitsOptions;
  /** Accounts with a login attempt in progress, each with the firing that is making the attempt. */
  readonly #trying = new Map<string, Firing>();
  /** The holds that the current poll has found. All firings that read a source share one lookup. */
  #found: { readonly poll?: object; readonly holds: Map<Source, Promise<LoginHoldRow | undefined>> } = {
    holds: new Map(),
  };

  constructor(options: LoginWaitsOptions) {
    this.#options = options;
  }

  /** Defers a firing that failed because its login was refused. Returns false if the problem has another cause. */
  defer(firing: Firing, problem: Problem | undefined): boolean {
    if (this.#options.stop.aborted || !isToWait(firing, problem)) return false;
    const next = newRunOf(firing);
    this.#options.waiting.add(next, (poll) => this.#check(next, poll));
    return true;
  }

  async #check(firing: Firing, poll: object): Promise<(() => void) | undefined> {
    const { gate, sourceOf, fire } = this.#options;
    const source = sourceOf(firing.job.name);
    const hold = source === undefined ? undefined : await this.#holdOn(source, poll);
    if (hold === undefined) return () => fire(firing);
    const login = nameOf(hold);
    return gate.isDue(hold) && !this.#trying.has(login) ? () => this.#try(firing, login) : undefined;
  }

  #holdOn(source: Source, poll: object): Promise<LoginHoldRow | undefined> {
    if (this.#found.poll !== poll) this.#found = { poll, holds: new Map() };
    const { holds } = this.#found;
    const hold = holds.get(source) ?? this.#options.gate.find(source);
    holds.set(source, hold);
    return hold;
  }

  /** Runs one of the firings that are waiting for the account. */
  #try(firing: Firing, login: string): void {
    this.#trying.set(login, firing);
    this.#options.fire(firing);
  }

  /** Must be called when a firing is done. If it made a login attempt, another firing may make the next one. */
  done(firing: Firing): void {
    for (const [login, one] of this.#trying) if (one === firing) this.#trying.delete(login);
  }
}

/** Whether a firing that failed with this problem must wait for its source's login. */
export function isToWait({ job: { schedule } }: Pick<Firing, 'job'>, problem: Problem | undefined): boolean {
  // With the misfire policy `skip`, missed firings aren't caught up. This firing isn't caught up either.
  if (schedule?.misfire?.policy === 'skip') return false;
  return problem?.isLoginRefused === true || problem?.code === onHold;
}
