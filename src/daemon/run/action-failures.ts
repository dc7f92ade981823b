import type { Problem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import type { Store } from '../../state/store.ts';

/** Why what a job's query wants done in its source after a delivery failed. */
export interface ActionFailure {
  readonly job: string;
  /** When it first failed, in epoch milliseconds. */
  readonly since: number;
  readonly code: string;
  readonly message: string;
  readonly next?: string;
  /** Whether the next attempt may succeed without anyone's help. */
  readonly isTransient?: true;
}

type Settings = Pick<Store, 'settings' | 'clock'>;

const prefix = 'after_delivery:';

/** Returns the failures of all jobs. */
export async function readActionFailures({ settings }: Pick<Store, 'settings'>): Promise<ActionFailure[]> {
  return (await settings.below(prefix)).map(({ value }) => JSON.parse(value) as ActionFailure);
}

/** Stores a job's failure. Secrets are redacted. */
export async function saveActionFailure({ settings, clock }: Settings, job: string, problem: Problem): Promise<void> {
  const { code, message, next, family } = problem;
  const former = await settings.find(prefix + job);
  const since = former === undefined ? Math.round(clock.now()) : (JSON.parse(former) as ActionFailure).since;
  const advice = next === undefined ? {} : { next: redact(next) };
  const transient = family === 'try_later' ? { isTransient: true as const } : {};
  const failure: ActionFailure = { job, since, code, message: redact(message), ...advice, ...transient };
  await settings.set(prefix + job, JSON.stringify(failure));
}

/** Call this when nothing is left to do, or when it succeeded. */
export async function forgetActionFailure({ settings }: Settings, job: string): Promise<void> {
  if ((await settings.find(prefix + job)) !== undefined) await settings.forget(prefix + job);
}
