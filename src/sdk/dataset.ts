import { matchesGlob } from 'node:path';
import type { Problem } from '../lib/problem.ts';

/** Something that can be read from a source: a table, a view, a file, a sheet of a workbook, a service's stream. */
export interface Dataset {
  /** Unique within the source. */
  readonly name: string;
  readonly kind: 'table' | 'view' | 'file' | 'sheet' | 'stream';
  /** Absent if the columns aren't known until the data is read. */
  readonly columns?: readonly DatasetColumn[];
  /** The columns that identify a row. */
  readonly key?: readonly string[];
  /** Columns whose values probably increase with each added or changed row, most likely first. */
  readonly cursors?: readonly string[];
  /** A `query` that reads the dataset. */
  readonly query: Readonly<Record<string, unknown>>;
  /** What users should know before they read the dataset, in one sentence each. */
  readonly notes?: readonly string[];
  /** Why the dataset can't be read. If this is set, the dataset has no `columns`. */
  readonly problem?: Problem;
}

export interface DatasetColumn {
  readonly name: string;
  /** The type as declared in the database or, for other sources, a column type. */
  readonly type: string;
  /** The format of the column's values, if it isn't the canonical one. */
  readonly format?: string;
}

/** Whether a name equals the pattern or matches it as a glob. If there is no pattern, every name matches. */
export function isMatch(name: string, pattern: string | undefined): boolean {
  return pattern === undefined || name === pattern || matchesGlob(name, pattern);
}
