import { didYouMean } from '../lib/nearest.ts';
import { Problem } from '../lib/problem.ts';
import type { Column } from '../sdk/column.ts';

/**
 * Returns the index of a column. If the name is unknown, throws a Problem that lists the known names and suggests the
 * closest one.
 */
export function columnIndex(columns: readonly Column[], name: string): number {
  const index = columns.findIndex((column) => column.name === name);
  if (index < 0) throw unknownColumn(columns, name);
  return index;
}

function unknownColumn(columns: readonly Column[], name: string): Problem {
  const names = columns.map((column) => column.name);
  return new Problem({
    code: 'TRANSFORM_COLUMN_UNKNOWN',
    family: 'config',
    message: `No column "${name}"`,
    where: { column: name },
    seen: name,
    allowed: names.join(', '),
    next: didYouMean(name, names),
  });
}

/** Throws if a name occurs twice, in a list from the user or among the resulting columns. */
export function refuseTwice(names: readonly string[], message: (name: string) => string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new Problem({
    code: 'TRANSFORM_COLUMN_TWICE',
    family: 'config',
    message: message(twice),
    where: { column: twice },
    seen: twice,
  });
}
