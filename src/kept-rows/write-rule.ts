/**
 * How a run's rows change what the instance shows, if they don't simply replace it: they're applied to kept rows, and
 * all of those are sent.
 */
export interface WriteRule {
  /** `append`: adds rows. `merge`: a row replaces the one with the same key. */
  readonly disposition: 'append' | 'merge';
  /** Key columns; none for `append`. */
  readonly key: readonly string[];
  /** A row with a mark in this column deletes the row with its key. */
  readonly deleted?: string;
  readonly retain?: Retention;
}

/** Which rows are retained. Every run evaluates the rule at its own time. */
export interface Retention {
  /** A date or time: the age of a row. */
  readonly column?: string;
  /** Older rows are removed. */
  readonly within?: RetentionSpan;
  /** Of the remaining rows, keeps this many of the newest: by `column`, or without one by position. */
  readonly rows?: number;
}

/** Days and weeks are calendar units in the job's zone; hours and minutes are exact. */
export interface RetentionSpan {
  readonly count: number;
  readonly unit: 'minutes' | 'hours' | 'days' | 'weeks';
}
