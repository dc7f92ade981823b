import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { JsonSchema } from '../sdk/option.ts';

/**
 * A transform that has been prepared for one run. It gets the run's batches in order, and may keep state between them.
 */
interface PreparedBase {
  /** The columns that the transform produces. This is the same array throughout the run. */
  readonly columns: readonly Column[];
  /**
   * Returns the batches that the transform has held back until the end, as a sort does. Called after the last batch.
   */
  finish?(): Iterable<Batch>;
  /**
   * True if no further input can change the result, such as after a limit was reached. The source is then not read any
   * further.
   */
  readonly satisfied?: boolean;
}

/** A prepared transform that never adds rows. */
export interface Prepared extends PreparedBase {
  /**
   * Transforms one batch. Returns null if no rows are left. Never changes its input and never changes the numbers of
   * stored rows. If no rows were sorted, `before` plus the number of a stored row therefore identifies a row of the
   * source. `before` is the number of rows that the run had read before stored row 0 of the batch; the default is 0.
   */
  apply(batch: Batch, before?: number): Batch | null;
}

/** A prepared transform that can add rows. Later transforms count the rows that it produces. */
export interface PreparedExpansion extends PreparedBase {
  /**
   * Yields the rows that one batch becomes, in batches of limited size, and computes each of them only when it's asked
   * for. Never changes its input. `before` is the same as for {@link Prepared.apply}.
   */
  expand(batch: Batch, before?: number): Iterable<Batch>;
}

/**
 * A transform, which is a pure function from batches to batches. In a job's list of transforms, it's a map with one key:
 * `- <id>: <given>`. If an error depends on the columns, `prepare` throws a Problem of the `config` family. For an
 * unknown column, the Problem's `allowed` lists the known columns. `apply` and `expand` throw Problems of the `row` family
 * with the column and the number of the row in the run, counted from 1.
 */
export interface Transform<G = unknown> {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** The JSON Schema of the transform's value in the config, with `description` and `examples`. */
  readonly schema: JsonSchema;
  prepare(given: G, columns: readonly Column[]): Prepared | PreparedExpansion;
  /**
   * Returns messages for errors that don't depend on columns, such as an expression with a syntax error. Returns an
   * empty list if there are none.
   */
  check?(given: G): readonly string[];
}

/**
 * Declares a transform. Returns its argument; the function is only needed to infer the type of the transform's value.
 */
export function defineTransform<G>(transform: Transform<G>): Transform<G> {
  return transform;
}
