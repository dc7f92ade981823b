import { Problem } from '../../lib/problem.ts';
import type { Column } from '../column.ts';
import { type DeclaredType, typeIn } from './column-formats.ts';
import { faultIn, type InputPosition, type RecordInput, shorten } from './input.ts';
import type { RecordOptions } from './options.ts';

/** Maximum number of columns, the same as in an Excel sheet. */
export const maxColumns = 16_384;

/** Rows per batch for this number of columns. Wide tables get fewer rows per batch, to limit a batch's size. */
export function maxRows(width: number): number {
  return Math.max(256, Math.min(4096, Math.floor(262_144 / Math.max(1, width))));
}

/** The job's columns, if set. A column's type may be set here or in `types`. */
export function declaredColumns({ columns, types }: Pick<RecordOptions, 'columns' | 'types'>): readonly Column[] {
  return columns.map(({ name, type }) => ({
    name,
    type: type ?? (Object.hasOwn(types, name) ? typeIn(types[name]!) : 'text'),
  }));
}

/**
 * The data's columns, with the job's types. With `strict`, throws if `types` names a missing column, because the name
 * is probably misspelled. Don't set `strict` if the columns depend on the records, because a column may be missing only
 * from this run's records.
 */
export function columnsOf(
  found: readonly Column[],
  { types, strict }: { types: Readonly<Record<string, DeclaredType>>; strict: boolean },
): Column[] {
  const stray = Object.keys(types).find((name) => !found.some((column) => column.name === name));
  if (stray !== undefined && strict) {
    throw new Problem({
      code: 'RECORDS_TYPES',
      family: 'config',
      message: `\`types\` names a column that the data does not have`,
      seen: stray,
      allowed: shorten(found.map(({ name }) => name).join(', '), 400),
    });
  }
  return found.map(({ name, type }) => ({ name, type: Object.hasOwn(types, name) ? typeIn(types[name]!) : type }));
}

/** The problem if the data has a column that isn't in `columns`. */
export function unknownColumn(input: RecordInput, name: string, columns: readonly Column[], row?: number): Problem {
  return faultIn(input, {
    code: 'RECORDS_UNKNOWN_COLUMN',
    message: `the data has the column ${JSON.stringify(name)}, which is not in \`columns\``,
    spot: { column: name, row },
    seen: name,
    allowed: shorten(columns.map((column) => column.name).join(', '), 400),
    next: 'add the column to `columns`, or set `ignore_unknown: true`',
  });
}

/** The problem if the data has more columns than a table can have. */
export function tooManyColumns(
  input: RecordInput,
  given: { message: string; next: string; spot?: InputPosition },
): Problem {
  return faultIn(input, { code: 'RECORDS_TOO_MANY_COLUMNS', allowed: String(maxColumns), ...given });
}

/** The problem if the data doesn't have a column that is in `columns`. */
export function missingColumn(input: RecordInput, name: string, names: readonly string[]): Problem {
  return faultIn(input, {
    code: 'RECORDS_MISSING_COLUMN',
    message: `the data has no column ${JSON.stringify(name)}, which is in \`columns\``,
    spot: { column: name },
    seen: shorten(names.join(', '), 400),
  });
}

/** Warns about declared columns that no record has, because the source may have renamed them. */
export function warnOfUnmet(
  { columns, warn }: Pick<RecordOptions, 'columns' | 'warn'>,
  isMet: (slot: number) => boolean,
): void {
  const unmet = columns.filter((_, slot) => !isMet(slot)).map(({ name }) => name);
  if (unmet.length === 0) return;
  warn?.({
    code: 'COLUMN_IN_NO_RECORD',
    message: `No record has the following declared columns, so all their values are missing: ${unmet.join(', ')}`,
    next: 'compare `columns` with the data: the source may have renamed the columns',
  });
}
