import { parseDateFormat } from './date-format.ts';
import { parseNumberFormat } from './number-format.ts';
import { type FormattedType, familyOf, type ValueFormat } from './value-format.ts';

/** A column's format, or the error in its declaration. */
export function parseValueFormat({ type, format, first_year }: FormattedType): ValueFormat | string {
  const family = familyOf(type);
  if (format === undefined) return 'has no format';
  if (family === undefined) return `declares a format for type ${type}, which has none`;
  if (family === 'number') return parseNumberFormat(format, type as 'integer' | 'decimal' | 'float');
  return parseDateFormat(format, { type: family, firstYear: first_year });
}
