import type { Occasion } from '../config/alerts.ts';

/**
 * A condition that people should be alerted to. Conditions are computed from the store on each scan; which alerts were
 * sent is stored separately.
 */
export interface AlertCondition {
  /** `job:orders`, `account:…`, `login:…`, `destination:main`, `scheduler`, `disk`, `source:…`, `config`, `clock`. */
  readonly subject: string;
  readonly occasion: Occasion;
  /** 2 is an escalation of 1 and is alerted again. */
  readonly level: 1 | 2;
  /** Conditions with the same occasion and cause form one group. */
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

/** Details of an alert for a person. Instants are epoch milliseconds. */
export interface Detail {
  /** Age of the data on the dashboard. */
  readonly shows_as_of?: number;
  /** A later upload had no response, so the dashboard may show newer data. */
  readonly in_doubt?: true;
  /** Nothing was ever published. */
  readonly shows_nothing?: true;
  /** What happens next automatically, and when. */
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
  /** New or escalated since the last message. */
  readonly fresh: readonly Mention[];
  /** All open alerts, including the fresh ones. */
  readonly open: readonly Mention[];
  /** Recovered since the last message. */
  readonly recovered: readonly Mention[];
}
