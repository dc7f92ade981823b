import type { Batch } from './batch.ts';
import type { Column } from './column.ts';
import type { FirstPage } from './preview.ts';

/** A range of times or numbers, as the user wrote it. The start is inclusive; the end is exclusive. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** An open extract: its columns are known, and its rows are read on demand. */
export interface Extraction {
  readonly columns: readonly Column[];
  /**
   * Batches of about a thousand rows, each with this same `columns` array. Batches are pulled, which applies
   * backpressure: only a small, bounded amount is read ahead. A batch is valid only until the next one is requested, so
   * copy any data that you keep. Leaving the loop early (`return()`) must close connections and files. On an error, the
   * iterator must throw; it must never end as if it had returned all rows.
   */
  readonly batches: AsyncIterable<Batch>;
  /**
   * The watermark's column, if the rows contain it. Of two versions of a row, the one with the higher value in this
   * column is newer.
   */
  readonly cursor?: string;
  /**
   * For a requested range: a column, and the range of its values (as canonical text) that contains all extracted rows.
   */
  readonly covers?: { readonly column: string; readonly from: string; readonly to: string };
  /**
   * The new watermark, in a format that the connector chooses. Called once, after the last batch. If it returns
   * undefined, the current watermark is kept.
   */
  readonly watermark?: () => string | undefined;
  /**
   * Returns true if the source reports no changes since the watermark (status 304 or an empty list of changes). The
   * last delivered data is then still valid, so the run creates no payload and ends as unchanged. Called once, after
   * the last batch.
   */
  readonly unchanged?: () => boolean;
  /**
   * Set if the columns and their types were found in the records: the {@link ExtractContext.keptColumns} that no record
   * has.
   */
  readonly absentColumns?: readonly string[];
  /** Opens the list of the keys of all rows that a first run would read. Called at most once, after the last batch. */
  readonly readKeys?: () => Promise<KeyList>;
  /** For a preview, if the connector reads pages. */
  readonly firstPage?: FirstPage;
  /** True if the rows are only a part of those that a run would return. Allowed only in a dry run. */
  readonly isSample?: boolean;
  /**
   * Returns why rows may be duplicated, or undefined if they can't be. If rows may be duplicated, jobs that append rows
   * must not continue. Called once, after the last batch.
   */
  readonly comesAgain?: () => RowsAgain | undefined;
}

/**
 * The keys of all rows that a source has. Rows that aren't in the list are deleted from the job's kept rows, so the
 * watermark must be one from which the next run finds those that are in the source all the same, such as rows that a
 * lagging replica didn't have yet.
 */
export interface KeyList {
  /** The columns of {@link ExtractContext.comparedKey}, in this order, and a last column with the rows' cursors. */
  readonly columns: readonly Column[];
  readonly batches: AsyncIterable<Batch>;
  /**
   * Called before {@link Extraction.watermark} if the job doesn't have the rows of some keys: with the lowest of their
   * cursors, as canonical text. The new watermark must then be one from which the next run reads these rows.
   */
  readonly onMissing: (cursor: string) => void;
}

/**
 * Why rows may be duplicated. `too_many`: the next run will repeat some of this run's rows, because there are more rows
 * at the boundary than the watermark can remember. `columns_gone`: this run repeated some of the last run's rows,
 * because they can't be distinguished from new rows without the columns that are now missing; `columns` is empty if the
 * watermark doesn't name those columns.
 */
export type RowsAgain =
  | { readonly why: 'too_many' }
  | { readonly why: 'columns_gone'; readonly columns: readonly string[] };
