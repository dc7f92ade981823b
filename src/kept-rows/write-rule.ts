/**
 * How the rows of a run become what the instance shows, where they do not simply replace it: they are applied to a local
 * data set, and what is sent is the whole of that.
 */
export interface WriteRule {
  /** `append`: rows are added to those that are there. `merge`: a row takes the place of the one with the same key. */
  readonly disposition: 'append' | 'merge';
  /** Columns that tell rows apart; none for `append`. */
  readonly key: readonly string[];
  /** A row with a mark in this column takes the row of its key away. */
  readonly deleted?: string;
  readonly retain?: Retention;
}

/** Which rows stay. Evaluated by every run at its own time. */
export interface Retention {
  /** A date or a time: the age of a row. */
  readonly column?: string;
  /** Rows older than this go. */
  readonly within?: RetentionSpan;
  /** Of what is left, so many of the newest stay: by `column`, or without one in the order in which they came. */
  readonly rows?: number;
}

/** Days and weeks are those of the calendar, in the zone of the job; hours and minutes are exact. */
export interface RetentionSpan {
  readonly count: number;
  readonly unit: 'minutes' | 'hours' | 'days' | 'weeks';
}
