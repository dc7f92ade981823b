import type { Problem } from '../lib/problem.ts';
import type { OptionSet, OptionValues } from './option.ts';

/** What a connector needs to know to decide whether something is to be done in the source after a delivery. */
export interface DeliveredRead<Q extends OptionSet> {
  readonly query: OptionValues<Q>;
  /** The job's current watermark. */
  readonly watermark: string;
  /** Whether the rows of the run that returned the watermark have been delivered. */
  readonly isDelivered: boolean;
  /** The IANA time zone that defines the job's days, if the job sets one. */
  readonly timezone?: string | undefined;
}

export interface AfterDeliveryResult {
  /** The watermark without what was done. */
  readonly watermark: string;
  /** Number of actions that succeeded. */
  readonly actions: number;
  /** Why the first action that failed did so. The watermark then still contains what is left to do. */
  readonly problem?: Problem | undefined;
}
