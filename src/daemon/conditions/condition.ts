import type { Config, Job } from '../../config/config.ts';
import type { LoginReport } from '../../oauth/report.ts';
import type { Store } from '../../state/store.ts';
import type { ActiveRecord } from '../config/config-record.ts';
import type { Overview } from '../report/overview.ts';

/** Everything that can be wrong, worst for the person who looks first. */
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

/** `error`: a person has to act. `warning`: it ends by itself, or it is not too late yet. */
export const conditionLevels = ['error', 'warning'] as const;
export type ConditionLevel = (typeof conditionLevels)[number];

/** One thing that is wrong now. Status, the page, readiness, metrics, explain and alerts render it and judge nothing themselves. */
export interface Condition {
  /** `job:orders`, `destination:main`, `account:main`, `source:shop`, `login:crm`, `channel:ops`, `config`, `scheduler` … */
  readonly subject: string;
  readonly kind: ConditionKind;
  readonly level: ConditionLevel;
  /** Since when, epoch milliseconds. */
  readonly since: number;
  /** One sentence without a full stop. */
  readonly what: string;
  /** Names of the jobs that it affects now; empty if it affects none, or none yet. */
  readonly jobs: readonly string[];
  readonly code?: string;
  /** A command or a sentence. */
  readonly fix?: string;
  /** When it is tried again by itself, epoch milliseconds. */
  readonly until?: number;
  /** How many runs in a row have failed. */
  readonly failures?: number;
}

/** Everything that conditions are read from: one look at the store. */
export interface Snapshot {
  readonly config: Config;
  readonly store: Store;
  readonly overview: Overview;
  /** The enabled jobs. */
  readonly jobs: readonly Job[];
  /** Logins that only a person can renew. */
  readonly needy: readonly LoginReport[];
  /** What the daemon took, if it took the config that is asked about. */
  readonly taken: ActiveRecord | undefined;
}

/** Whether a condition is about a job. */
export const concerns = ({ jobs }: Condition, job: string): boolean => jobs.includes(job);
