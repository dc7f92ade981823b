/**
 * How a run's rows are applied to the job's kept rows, all of which are then sent. The rows of a job without this rule
 * replace everything that the instance shows.
 */
export interface WriteRule {
  /** `append`: adds rows. `merge`: a row replaces the one with the same key. */
  readonly disposition: 'append' | 'merge';
  /** Key columns; none for `append`. */
  readonly key: readonly string[];
  /** The column that marks a row as a deletion of the kept row with the same key. */
  readonly deleted?: string;
  /** `compare`: a kept row is deleted if its key isn't among the source's keys any more, which each run reads. */
  readonly deletes?: 'compare';
  readonly retain?: Retention;
}

/** Which rows are retained. Every run applies the rule relative to its own time. */
export interface Retention {
  /** The column with a date or time that determines a row's age. */
  readonly column?: string;
  /** Rows that are older than this are removed. */
  readonly within?: RetentionSpan;
  /** How many of the newest remaining rows to keep. Rows are ordered by `column` or, without one, by position. */
  readonly rows?: number;
}

/** Days and weeks are calendar units in the job's zone; hours and minutes are exact. */
export interface RetentionSpan {
  readonly count: number;
  readonly unit: 'minutes' | 'hours' | 'days' | 'weeks';
}
