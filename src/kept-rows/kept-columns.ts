import { nearest } from '../lib/nearest.ts';
import { Problem } from '../lib/problem.ts';
import { type Column, type ColumnType, commonType, isJsonType, type KeptColumn, typesLine } from '../sdk/column.ts';
import type { WriteRule } from './write-rule.ts';

/** The columns of the kept rows, combined with a run's columns. */
export interface ColumnLayout {
  /** The kept columns in their order, then the new ones. */
  readonly columns: readonly KeptColumn[];
  /** Index of each column in the run; -1 if the run doesn't have it. */
  readonly from: readonly number[];
}

/** Combines the columns. A column is never removed: if a run lacks it, the column is null in the run's rows. */
export function joinColumns(known: readonly KeptColumn[], come: readonly Column[]): ColumnLayout {
  const names = new Set(known.map(({ name }) => name));
  const fresh = come.filter(({ name }) => !names.has(name)).map((column) => ({ ...column, seen: false }));
  const columns = [...known, ...fresh];
  return { columns, from: columns.map(({ name }) => come.findIndex((column) => column.name === name)) };
}

/**
 * The column types after a run. A type may only widen to one that can also represent all existing values. `hasValue`:
 * whether the run had a value in each column; if it had none, the column's type in the run is meaningless. `areFound`:
 * whether the types were found in the records. A different type then doesn't mean that the source's column has changed.
 */
export function settleTypes(
  { columns, from }: ColumnLayout,
  { come, hasValue, areFound }: { come: readonly Column[]; hasValue: readonly boolean[]; areFound: boolean },
): readonly KeptColumn[] {
  return columns.map((column, c) => {
    const other = come[from[c]!];
    if (other === undefined || hasValue[c] !== true) return column;
    if (!column.seen) return { ...other, seen: true };
    return { ...column, type: typeOfBoth(column, other.type, areFound) };
  });
}

/** The canonical texts of the kept rows don't change, so they must also be values of the new type. */
function typeOfBoth({ name, type }: Column, other: ColumnType, areFound: boolean): ColumnType {
  if (type === other) return type;
  const both = commonType(type, other);
  const isValid = both !== 'json' || (isJsonType(type) && isJsonType(other));
  if (both === 'decimal' || (areFound && isValid)) return both;
  throw otherType(name, { type, other });
}

/**
 * The combined columns of the kept rows and of ranges that were read separately. One list must be a prefix of the
 * other; otherwise, their records are incompatible.
 */
export function joinLayouts(a: readonly KeptColumn[], b: readonly KeptColumn[]): readonly KeptColumn[] {
  const [longer, shorter] = a.length < b.length ? [b, a] : [a, b];
  return longer.map((column, c) => {
    const other = shorter[c];
    if (other === undefined || (other.name === column.name && !other.seen)) return column;
    if (other.name !== column.name) throw otherLayout(column.name, other.name);
    // Each list was settled with the types of its own run.
    return column.seen ? { ...column, type: typeOfBoth(column, other.type, true) } : other;
  });
}

/**
 * Throws if the kept rows and ranges that were read separately have different types in one of these columns, by which
 * rows are identified or ordered: the same value would be stored differently, so rows would be doubled.
 */
export function refuseOtherTypes(
  [a, b]: readonly [readonly KeptColumn[], readonly KeptColumn[]],
  names: readonly (string | undefined)[],
): void {
  for (const { name, type, seen } of a) {
    const other = b.find((column) => column.name === name && column.seen);
    if (seen && other !== undefined && other.type !== type && names.includes(name))
      throw otherType(name, { type, other: other.type });
  }
}

function otherLayout(name: string, other: string): Problem {
  return new Problem({
    code: 'SET_MOVED',
    family: 'job',
    message: "During a backfill, the job's runs and the backfill added different new columns",
    seen: `${name} and ${other} in the same position`,
    next: 'read the range again from its beginning: sluice backfill … --restart',
  });
}

/** The problem to report if a column has changed its type. */
export function otherType(name: string, { type, other }: { type: ColumnType; other: ColumnType }): Problem {
  return new Problem({
    code: 'SET_COLUMN_TYPE',
    family: 'job',
    message: `Column ${JSON.stringify(name)} was ${type} when the job last read it, and is now ${other}`,
    where: { column: name },
    seen: other,
    allowed: type,
    next: `cast the column to its former type in the query; for an API or a file, write ${typesLine(name, commonType(type, other))} in the query; or let the job read everything again: sluice state clear JOB`,
  });
}

/** Throws `SET_NO_COLUMN` for the first column that a rule names but the rows don't have. */
export function checkNamedColumns(columns: readonly Column[], { key, deleted, retain }: WriteRule): void {
  for (const name of key) namedColumn(columns, name, 'key');
  if (deleted !== undefined) namedColumn(columns, deleted, 'deleted');
  if (retain?.column !== undefined) namedColumn(columns, retain.column, 'retain.column');
}

/** Index of a column that `write` names. */
export function namedColumn(columns: readonly Column[], name: string, option: string): number {
  const at = columns.findIndex((column) => column.name === name);
  if (at >= 0) return at;
  const names = columns.map((column) => column.name);
  const meant = nearest(name, names);
  throw new Problem({
    code: 'SET_NO_COLUMN',
    family: 'config',
    message: `The rows have no column ${JSON.stringify(name)}, which is set in write.${option}`,
    where: { column: name },
    allowed: names.join(', '),
    next: `${meant === undefined ? 'name' : `did you mean "${meant}"? Name`} a column of the source as it is called before the transforms; if records of an API or a file may lack the column, list it in the query's \`columns\``,
  });
}
