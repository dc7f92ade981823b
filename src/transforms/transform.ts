import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { JsonSchema } from '../sdk/option.ts';

/** A transform made ready for one run. Batches go through in order; state lives and dies with the run. */
export interface Prepared {
  /** The columns after this transform: the same array for the whole run. */
  readonly columns: readonly Column[];
  /**
   * One batch in, at most one out; null when nothing of it is left. Never changes its input, and keeps stored row
   * numbers as they are, so that `before` (rows of the run ahead of the batch's stored row 0, 0 when not given) plus a
   * stored row number names a row of the source for as long as nothing was sorted.
   */
  apply(batch: Batch, before?: number): Batch | null;
  /** What was held back until the end (a sort), after the last batch. */
  finish?(): Iterable<Batch>;
  /** True once no further input can change the result (a limit that is reached): the source is not read on. */
  readonly satisfied?: boolean;
}

/**
 * A transform: pure, batch in, batch out. In a job it stands as a one-key map, `- <id>: <given>`.
 * `prepare` throws Problems of family `config` for what only the columns can tell (an unknown column, with the known
 * ones in `allowed`), and `apply` throws family `row` with the 1-based row number of the run and the column.
 */
export interface Transform<G = unknown> {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** JSON Schema of what stands behind the key, with `description` and `examples`. */
  readonly schema: JsonSchema;
  prepare(given: G, columns: readonly Column[]): Prepared;
  /** Faults that can be told without columns (an expression that does not parse). Plain sentences; none when fine. */
  check?(given: G): readonly string[];
}

/** Declares a transform; the identity function, there to infer the type of what is given. */
export function defineTransform<G>(transform: Transform<G>): Transform<G> {
  return transform;
}
