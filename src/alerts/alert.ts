import type { Occasion } from '../config/alerts.ts';

/**
 * A condition to alert users about. Each scan computes the conditions from the store. The alerts that were sent are
 * stored separately.
 */
export interface AlertCondition {
  /**
   * The subject, such as `job:orders`, `account:…`, `login:…`, `destination:main`, `scheduler`, `disk`, `source:…`,
   * `config`, `clock`.
   */
  readonly subject: string;
  readonly occasion: Occasion;
  /** Level 2 means that the condition has escalated, so another alert is sent. */
  readonly level: 1 | 2;
  /** Conditions with the same occasion and cause form a group. */
  readonly cause: string;
  /** Start, epoch milliseconds. */
  readonly since: number;
  /** One sentence without a period. */
  readonly what: string;
  readonly code?: string;
  /** Names of channels, sorted. */
  readonly to: readonly string[];
  readonly remindMs: number;
}

/** Details that help the alert's reader. Times are in epoch milliseconds. */
export interface Detail {
  /** The time that the dashboard's data is from, in epoch milliseconds. */
  readonly shows_as_of?: number;
  /** No response to a later upload was received, so the dashboard may show newer data. */
  readonly in_doubt?: true;
  /** Nothing was ever published. */
  readonly shows_nothing?: true;
  /** What Sluice will do next automatically, and when. */
  readonly next?: { readonly at?: number; readonly message: string };
  /** A command or a sentence. */
  readonly fix?: string;
}

/** One subject of a bulletin. */
export interface Mention {
  readonly subject: string;
  readonly level: number;
  readonly since: number;
  readonly what: string;
  readonly code: string | null;
}

/** One message about one group. */
export interface Bulletin {
  readonly occasion: Occasion;
  readonly kind: 'opened' | 'worse' | 'reminder' | 'recovered';
  readonly to: readonly string[];
  /** The subjects whose alerts were opened or escalated since the last message. */
  readonly fresh: readonly Mention[];
  /** All subjects with open alerts, including the fresh subjects. */
  readonly open: readonly Mention[];
  /** Subjects that have recovered since the last message. */
  readonly recovered: readonly Mention[];
}
