import { Problem } from '../../lib/problem.ts';
import type { Column, ColumnType } from '../column.ts';
import { parseValueFormat } from './parse-format.ts';
import { type FamilyFormats, type FormattedType, familyOf, type ValueFormat } from './value-format.ts';

/** A type as the config declares it. */
export type DeclaredType = ColumnType | FormattedType;

/** A column as the config declares it. */
export interface DeclaredColumn extends Partial<FormattedType> {
  readonly name: string;
}

interface Checked extends FormattedType {
  readonly option: string;
  readonly name: string;
}

interface Declarations {
  readonly types: Readonly<Record<string, DeclaredType>>;
  readonly columns: readonly DeclaredColumn[];
  readonly formats: FamilyFormats;
}

/** The type of a declaration. */
export function typeIn(declared: DeclaredType): ColumnType {
  return typeof declared === 'string' ? declared : declared.type;
}

/** The formats of a table's columns, by position; undefined for columns that need no declared format. */
export function formatsOf(columns: readonly Column[], given: Declarations): readonly (ValueFormat | undefined)[] {
  const declared = declaredFormats(given);
  return columns.map(({ name, type }) => {
    const one = declared.get(name);
    if (one === undefined || one.format === undefined) return undefined;
    const parsed = parseValueFormat({ ...one, type });
    if (typeof parsed !== 'string') return parsed;
    throw new Problem({
      code: 'RECORDS_VALUE_FORMAT',
      family: 'config',
      message: `the format for column ${name} ${parsed}`,
      where: { column: name },
      seen: one.format,
    });
  });
}

/** The errors in the declared formats that can be found without reading data. */
export function formatFaults(given: Declarations): { option: string; message: string }[] {
  const { types, columns, formats } = given;
  const own: Checked[] = [
    ...Object.entries(types).flatMap(([name, one]) =>
      typeof one === 'string' ? [] : [{ option: 'types', name, ...one }],
    ),
    ...columns.map((one) => ({ option: 'columns', ...one, type: one.type ?? 'text' })),
  ].filter(({ format, first_year }) => format !== undefined || first_year !== undefined);
  const shared: Checked[] = (['number', 'date', 'time', 'timestamp', 'timestamptz'] as const).flatMap((family) => {
    const format = formats[family];
    const type = family === 'number' ? 'decimal' : family;
    return format === undefined
      ? []
      : [{ option: 'formats', name: family, type, format, first_year: formats.first_year }];
  });
  return [...own, ...shared].flatMap(({ option, name, type, format, first_year }) => {
    const parsed = parseValueFormat({ type, format, first_year: first_year ?? formats.first_year });
    const formatText = format === undefined ? '' : ` ${JSON.stringify(format)}`;
    return typeof parsed === 'string' ? [{ option, message: `${name}: the format${formatText} ${parsed}` }] : [];
  });
}

/** The declarations of columns that have a type, by name, each with the format that applies to the column. */
function declaredFormats({ types, columns, formats }: Declarations): ReadonlyMap<string, FormattedType> {
  const found = new Map<string, FormattedType>();
  const add = (name: string, one: FormattedType) => {
    const family = familyOf(one.type);
    const format = one.format ?? (family && formats[family]);
    found.set(name, { type: one.type, format, first_year: one.first_year ?? formats.first_year });
  };
  for (const [name, one] of Object.entries(types)) add(name, typeof one === 'string' ? { type: one } : one);
  for (const { name, type, ...rest } of columns) if (type !== undefined) add(name, { type, ...rest });
  return found;
}
