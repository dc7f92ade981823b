import { matchesGlob } from 'node:path';
import type { Problem } from '../lib/problem.ts';

/** Something that a source offers to read: a table, a view, a file, a sheet of a workbook, a stream of a service. */
export interface Dataset {
  /** Unique within the source. */
  readonly name: string;
  readonly kind: 'table' | 'view' | 'file' | 'sheet' | 'stream';
  /** Absent if the columns are only known once the data is read. */
  readonly columns?: readonly DatasetColumn[];
  /** The columns that identify a row. */
  readonly key?: readonly string[];
  /** Columns that probably increase with every added or changed row, best first. */
  readonly cursors?: readonly string[];
  /** The `query` of a job that reads it. */
  readonly query: Readonly<Record<string, unknown>>;
  /** What a person should know before reading it, one sentence each. */
  readonly notes?: readonly string[];
  /** Why it can't be read; its columns are then absent. */
  readonly problem?: Problem;
}

export interface DatasetColumn {
  readonly name: string;
  /** The type as declared in the database; for other sources, a column type. */
  readonly type: string;
  /** How its values are written, if not in the usual form. */
  readonly format?: string;
}

/** Whether a name is the pattern, or matches it as a glob. Every name matches an absent pattern. */
export function isMatch(name: string, pattern: string | undefined): boolean {
  return pattern === undefined || name === pattern || matchesGlob(name, pattern);
}
