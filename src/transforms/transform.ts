import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { JsonSchema } from '../sdk/option.ts';

/** A transform prepared for one run. Batches arrive in order; state lasts for the run. */
export interface Prepared {
  /** The columns after this transform. The same array for the whole run. */
  readonly columns: readonly Column[];
  /**
   * Transforms one batch; null if nothing is left. Never changes its input, and keeps stored row numbers, so that
   * `before` (the number of rows that the run read before the batch's stored row 0; default 0) plus a stored row number
   * identifies a source row, as long as nothing was sorted.
   */
  apply(batch: Batch, before?: number): Batch | null;
  /** Called after the last batch, for batches that were held back until the end (by a sort). */
  finish?(): Iterable<Batch>;
  /** True once no further input can change the result (if a limit was reached), so the source isn't read further. */
  readonly satisfied?: boolean;
}

/**
 * A transform: a pure function from batch to batch. In a job, it's a map with one key, `- <id>: <given>`. `prepare`
 * throws Problems of family `config` for errors that depend on the columns (an unknown column, with the known ones in
 * `allowed`), and `apply` throws family `row` with the column and the 1-based row number of the run.
 */
export interface Transform<G = unknown> {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** JSON Schema of the value, with `description` and `examples`. */
  readonly schema: JsonSchema;
  prepare(given: G, columns: readonly Column[]): Prepared;
  /** Messages for errors that don't depend on columns (an expression that doesn't parse); empty if there are none. */
  check?(given: G): readonly string[];
}

/** Declares a transform. An identity function, to infer the type of the value. */
export function defineTransform<G>(transform: Transform<G>): Transform<G> {
  return transform;
}
