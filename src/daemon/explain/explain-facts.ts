import type { Job } from '../../config/config.ts';
import type { OutboxRow, RunRow, ThrottledJobRow } from '../../state/tables.ts';
import type { Condition } from '../conditions/condition.ts';
import type { Silence } from '../report/overview.ts';
import type { NextAttempt } from '../retry/next-attempt.ts';
import type { Explanation } from './explain-links.ts';

/** What is known of a job, and of what is in its way. Instants are epoch milliseconds. */
export interface Facts {
  readonly job: Job;
  readonly now: number;
  /** Newest first. */
  readonly runs: readonly RunRow[];
  /** Of this job: owed, held back or dead; the oldest first. */
  readonly waiting: readonly OutboxRow[];
  readonly runningSince?: number;
  readonly daemonSince?: number;
  /** Why a daemon that lives fires nothing. */
  readonly stopped?: string;
  readonly nextAt?: number;
  readonly hold?: { readonly since: number; readonly who: string; readonly why: string };
  readonly attempt?: NextAttempt;
  readonly missing?: string;
  readonly throttle?: ThrottledJobRow;
  /** Its source did not answer when it was looked at. */
  readonly silence?: Silence;
  /** When the account has requests again. */
  readonly quotaUntil?: number;
  /** What is wrong that affects it, errors first. */
  readonly conditions: readonly Condition[];
}

/** What the facts come to: in a few words, link by link, what happens by itself and what a person can do. */
export type RuleResult = Pick<Explanation, 'verdict' | 'because' | 'next' | 'fix'>;
