import { Problem } from '../lib/problem.ts';
import type { Column } from '../sdk/column.ts';

/**
 * The column names as a format writes them. Throws `FORMAT_COLUMN_NAME` with both names if two of them become equal.
 */
export function writtenNames(columns: readonly Column[], format: string, write: (name: string) => string): string[] {
  const seen = new Map<string, string>();
  return columns.map(({ name }) => {
    const written = write(name);
    const other = seen.get(written);
    if (other !== undefined) throw collision(other, name, { written, format });
    seen.set(written, name);
    return written;
  });
}

function collision(first: string, second: string, { written, format }: { written: string; format: string }): Problem {
  const both = first === second ? `Two columns are named ${JSON.stringify(first)}` : mapped(first, second, written);
  return new Problem({
    code: 'FORMAT_COLUMN_NAME',
    family: 'config',
    message: `${both}, but ${format} requires unique names`,
    seen: `${JSON.stringify(first)} and ${JSON.stringify(second)}`,
    allowed: 'names that are unique in the output',
    next: 'rename one of the columns with an alias in the query or with the rename transform',
  });
}

function mapped(first: string, second: string, written: string): string {
  return `The columns ${JSON.stringify(first)} and ${JSON.stringify(second)} are both written as ${JSON.stringify(written)}`;
}
