import type { Config, Job } from '../../config/config.ts';
import type { LoginReport } from '../../oauth/report.ts';
import type { Store } from '../../state/store.ts';
import type { ActiveRecord } from '../config/config-record.ts';
import type { Overview } from '../report/overview.ts';

/** All kinds of conditions. The most severe kinds come first. */
export const conditionKinds = [
  'left_out',
  'blocked',
  'failed',
  'quarantined',
  'dead',
  'credentials',
  'login',
  'login_refused',
  'unsent',
  'quota',
  'retrying',
  'source',
  'stale',
  'daemon',
  'scheduler',
  'state',
  'disk',
  'config',
  'reload_refused',
  'files',
  'stranded',
  'channel',
  'clock',
  'failover',
] as const;

export type ConditionKind = (typeof conditionKinds)[number];

/** `error`: someone has to act. `warning`: the condition resolves by itself, or isn't urgent yet. */
export const conditionLevels = ['error', 'warning'] as const;
export type ConditionLevel = (typeof conditionLevels)[number];

/**
 * A problem that exists now. Status, console, readiness, metrics, explain and alerts only show conditions; they don't
 * decide what is a problem.
 */
export interface Condition {
  /**
   * What the condition is about, such as `job:orders`, `destination:main`, `account:main`, `source:shop`, `login:crm`,
   * `channel:ops`, `config`, `scheduler`.
   */
  readonly subject: string;
  readonly kind: ConditionKind;
  readonly level: ConditionLevel;
  /** When the condition began, in epoch milliseconds. */
  readonly since: number;
  /** The problem in one sentence, without a final period. */
  readonly what: string;
  /** Names of the jobs that the condition currently affects. May be empty. */
  readonly jobs: readonly string[];
  readonly code?: string;
  /** How to fix the problem: a command or a sentence. */
  readonly fix?: string;
  /** The time of the next automatic retry of the failed action, in epoch milliseconds. */
  readonly until?: number;
  /** Number of consecutive failed runs. */
  readonly failures?: number;
}

/** The data that conditions are derived from. It's read from the store once. */
export interface Snapshot {
  readonly config: Config;
  readonly store: Store;
  readonly overview: Overview;
  /** The enabled jobs. */
  readonly jobs: readonly Job[];
  /** Logins that only a user can renew. */
  readonly needy: readonly LoginReport[];
  /** The daemon's record of its active config. Present only if the conditions are for that config. */
  readonly taken: ActiveRecord | undefined;
}

/** Whether a condition affects a job. */
export const concerns = ({ jobs }: Condition, job: string): boolean => jobs.includes(job);
