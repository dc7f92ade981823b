import type { Config, Job } from '../../config/config.ts';
import type { LoginReport } from '../../oauth/report.ts';
import type { Store } from '../../state/store.ts';
import type { ActiveRecord } from '../config/config-record.ts';
import type { Overview } from '../report/overview.ts';

/** Everything that can be wrong, most severe first. */
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
  'stranded',
  'channel',
  'clock',
] as const;

export type ConditionKind = (typeof conditionKinds)[number];

/** `error`: a person has to act. `warning`: it resolves without a person, or it's not too late yet. */
export const conditionLevels = ['error', 'warning'] as const;
export type ConditionLevel = (typeof conditionLevels)[number];

/**
 * One thing that is wrong now. Status, console, readiness, metrics, explain and alerts only render conditions and
 * decide nothing themselves.
 */
export interface Condition {
  /** `job:orders`, `destination:main`, `account:main`, `source:shop`, `login:crm`, `channel:ops`, `config`, `scheduler` … */
  readonly subject: string;
  readonly kind: ConditionKind;
  readonly level: ConditionLevel;
  /** When it began, epoch milliseconds. */
  readonly since: number;
  /** One sentence without a full stop. */
  readonly what: string;
  /** Names of the jobs that it currently affects; may be empty. */
  readonly jobs: readonly string[];
  readonly code?: string;
  /** A command or a sentence. */
  readonly fix?: string;
  /** When it's retried automatically, epoch milliseconds. */
  readonly until?: number;
  /** Number of consecutive failed runs. */
  readonly failures?: number;
}

/** Everything that conditions are derived from, read from the store once. */
export interface Snapshot {
  readonly config: Config;
  readonly store: Store;
  readonly overview: Overview;
  /** The enabled jobs. */
  readonly jobs: readonly Job[];
  /** Logins that only a person can renew. */
  readonly needy: readonly LoginReport[];
  /** The daemon's record of its active config, if it's the config whose conditions are read. */
  readonly taken: ActiveRecord | undefined;
}

/** Whether a condition is about a job. */
export const concerns = ({ jobs }: Condition, job: string): boolean => jobs.includes(job);
