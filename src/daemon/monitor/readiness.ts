import { countOf } from '../../lib/count-text.ts';
import type { Events } from '../../lib/events.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Condition, ConditionKind } from '../conditions/condition.ts';
import type { SluiceEvents } from '../events.ts';
import type { Heartbeat } from '../process/heartbeat.ts';

/** One readiness check. */
export interface ReadinessResult {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

export interface ReadinessOptions {
  readonly events: Events<SluiceEvents>;
  readonly heartbeat: Heartbeat;
  /** The error of the last write to the state, if it failed. */
  readonly unwritable: () => Problem | undefined;
  /** Reads the current conditions. */
  readonly conditions: () => Promise<readonly Condition[]>;
  /** Number of jobs in the active config. */
  readonly jobs: () => number;
}

/** Conditions that affect the whole daemon. A single failing job isn't one of them. */
const checks = [
  { name: 'state', kinds: ['state', 'disk'], fine: 'the state can be read and written' },
  { name: 'config', kinds: ['left_out', 'config', 'reload_refused'], fine: undefined },
  { name: 'destinations', kinds: ['credentials'], fine: 'no destination refuses the credentials' },
] as const satisfies readonly { name: string; kinds: readonly ConditionKind[]; fine: string | undefined }[];

/** For each kind of condition, a description that is safe to publish. A condition's own sentence may quote data. */
const words: Readonly<Partial<Record<ConditionKind, (condition: Condition) => string>>> = {
  state: ({ code = '' }) => `the state is not writable: ${code}`,
  disk: () => 'the state folder has no space for another result',
  left_out: ({ jobs }) => `job ${jobs.join(', ')} is left out because of an error in the config`,
  config: () => 'parts of the config are left out because of errors',
  reload_refused: () => 'a reload was rejected; the previous config stays active',
  credentials: ({ subject }) => `${subject.slice('destination:'.length)} refuses the credentials`,
};

/** How long a check waits for the state. A database on a server may not respond for longer than that. */
const patienceMs = 5_000;

const noState = (message: string): ReadinessResult => ({ name: 'state', ok: false, message });

/** Resolves to undefined if the work takes longer. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), milliseconds);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** Determines the daemon's liveness and readiness. */
export class Readiness {
  readonly #given: ReadinessOptions;
  #isStopping = false;

  constructor(given: ReadinessOptions) {
    this.#given = given;
    given.events.listen((...[name]) => {
      if (name === 'daemon.stopping') this.#isStopping = true;
    });
  }

  /**
   * Liveness, for supervisors that restart an unresponsive process: whether this process responds and its schedules
   * run.
   */
  alive(): ReadinessResult[] {
    const { ticking, message } = this.#given.heartbeat.check();
    return [{ name: 'scheduler', ok: ticking || this.#isStopping, message }];
  }

  /**
   * Readiness: whether the state is readable and writable, the whole config is active, and all credentials are
   * accepted.
   */
  async ready(): Promise<ReadinessResult[]> {
    const alive = this.alive();
    if (this.#isStopping) return [...alive, { name: 'config', ok: false, message: 'the daemon is stopping' }];
    const problem = this.#given.unwritable();
    if (problem !== undefined) return [...alive, noState(`the state is not writable: ${problem.code}`)];
    try {
      const conditions = await within(patienceMs, this.#given.conditions());
      if (conditions === undefined) return [...alive, noState('the state does not respond')];
      const errors = conditions.filter(({ level }) => level === 'error');
      return [...alive, ...checks.flatMap((check) => this.#check(check, errors))];
    } catch (error) {
      return [...alive, noState(`the state cannot be read: ${String(error)}`)];
    }
  }

  #check({ name, kinds, fine }: (typeof checks)[number], errors: readonly Condition[]): ReadinessResult[] {
    const bad = errors.filter(({ kind }) => kinds.some((one) => one === kind));
    if (bad.length === 0) return [{ name, ok: true, message: fine ?? `${countOf(this.#given.jobs(), 'job')} active` }];
    return bad.map((condition) => ({ name, ok: false, message: words[condition.kind]?.(condition) ?? condition.kind }));
  }
}
