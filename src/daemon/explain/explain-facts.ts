import type { Job } from '../../config/config.ts';
import type { OutboxRow, RunRow, ThrottledJobRow } from '../../state/tables.ts';
import type { Condition } from '../conditions/condition.ts';
import type { Silence } from '../report/overview.ts';
import type { NextAttempt } from '../retry/next-attempt.ts';
import type { Explanation } from './explain-links.ts';

/** The known facts about a job, including the reasons why it's blocked. All instants are in epoch milliseconds. */
export interface Facts {
  readonly job: Job;
  readonly now: number;
  /** The job's runs, newest first. */
  readonly runs: readonly RunRow[];
  /** The job's owed, quarantined and dead payloads, oldest first. */
  readonly waiting: readonly OutboxRow[];
  readonly runningSince?: number;
  readonly daemonSince?: number;
  /** The reason why a running daemon doesn't fire any jobs. */
  readonly stopped?: string;
  readonly nextAt?: number;
  readonly hold?: { readonly since: number; readonly who: string; readonly why: string };
  readonly attempt?: NextAttempt;
  readonly missing?: string;
  readonly throttle?: ThrottledJobRow;
  /** The last check of the job's source. Set only if the check failed. */
  readonly silence?: Silence;
  /** The time when the account will have requests left again. */
  readonly quotaUntil?: number;
  /** The conditions that affect the job. Errors come first. */
  readonly conditions: readonly Condition[];
}

/**
 * The conclusion from the facts: a short verdict, the chain of causes, what will happen next, and what the user can do.
 */
export type RuleResult = Pick<Explanation, 'verdict' | 'because' | 'next' | 'fix'>;
