import type { Occasion } from '../config/alerts.ts';

/**
 * A condition to alert users about. Each scan computes the conditions from the store; sent alerts are stored
 * separately.
 */
export interface AlertCondition {
  /**
   * Such as `job:orders`, `account:…`, `login:…`, `destination:main`, `scheduler`, `disk`, `source:…`, `config`,
   * `clock`.
   */
  readonly subject: string;
  readonly occasion: Occasion;
  /** 2 means that the condition has escalated, so another alert is sent. */
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

/** Alert details that help the reader. Instants are epoch milliseconds. */
export interface Detail {
  /** How old the dashboard's data is. */
  readonly shows_as_of?: number;
  /** A later upload got no response, so the dashboard may show newer data. */
  readonly in_doubt?: true;
  /** Nothing was ever published. */
  readonly shows_nothing?: true;
  /** What will happen next automatically, and when. */
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
  /** Subjects whose alerts were opened or escalated after the last message. */
  readonly fresh: readonly Mention[];
  /** All subjects with open alerts, including the fresh ones. */
  readonly open: readonly Mention[];
  /** Subjects that have recovered since the last message. */
  readonly recovered: readonly Mention[];
}
