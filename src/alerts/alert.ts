import type { Occasion } from '../config/alerts.ts';

/**
 * Something that somebody should hear of, as one look at the world finds it. What is true is worked out anew at each
 * look, from what the store holds; what was told of it is remembered elsewhere.
 */
export interface AlertCondition {
  /** `job:orders`, `account:…`, `login:…`, `destination:main`, `scheduler`, `disk`, `source:…`, `config`, `clock`. */
  readonly subject: string;
  readonly occasion: Occasion;
  /** 2 is worse than 1 and is told again. */
  readonly level: 1 | 2;
  /** Conditions of one occasion and one cause are told together. */
  readonly cause: string;
  /** Since when it is so, epoch milliseconds. */
  readonly since: number;
  /** One sentence without a full stop. */
  readonly what: string;
  readonly code?: string;
  /** Names of channels, sorted. */
  readonly to: readonly string[];
  readonly remindMs: number;
}

/** What a person needs to know beside the fact itself. Instants are epoch milliseconds. */
export interface Detail {
  /** How old the data is that the dashboard shows. */
  readonly shows_as_of?: number;
  /** A request since then had no answer: it may be something newer. */
  readonly in_doubt?: true;
  /** Nothing was ever published. */
  readonly shows_nothing?: true;
  /** What happens by itself, and when. */
  readonly next?: { readonly at?: number; readonly says: string };
  /** A command or a sentence. */
  readonly mend?: string;
}

/** One subject of a bulletin. */
export interface Mention {
  readonly subject: string;
  readonly level: number;
  readonly since: number;
  readonly what: string;
  readonly code: string | null;
}

/** What is to be told of one group at one time. */
export interface Bulletin {
  readonly occasion: Occasion;
  readonly kind: 'opened' | 'worse' | 'reminder' | 'recovered';
  readonly to: readonly string[];
  /** New, or worse than when it was last told. */
  readonly fresh: readonly Mention[];
  /** All that are open now, those that are fresh too. */
  readonly open: readonly Mention[];
  /** Over since it was last told. */
  readonly recovered: readonly Mention[];
}
