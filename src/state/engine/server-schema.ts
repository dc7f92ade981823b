import { type Kysely, sql } from 'kysely';
import { newestColumns } from '../migrations/newest-columns.generated.ts';
import type { Tables } from '../tables.ts';

const maxDifferences = 5;

/** The columns of a state's tables, in the form of `newestColumns`. */
const columnsIn = (schema: string) => sql<{ name: string; columns: string }>`
  select c.relname as name, string_agg(
    a.attname || ' ' || format_type(a.atttypid, null) || case when a.attnotnull then ' not null' else '' end, ', '
  ) as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where n.nspname = ${schema} and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
  group by c.relname`;

/**
 * Returns how the tables of a state on a server differ from the newest schema, such as because an unreleased build
 * created them. Ignores other tables, because the schema may contain some that aren't the state's.
 */
export async function serverDifferences(db: Kysely<Tables>, schema: string): Promise<readonly string[]> {
  const { rows } = await columnsIn(schema).execute(db);
  const found = new Map(rows.map(({ name, columns }) => [name, columns]));
  const differences = Object.entries(newestColumns).flatMap(([table, columns]) => compare(table, columns, found));
  return differences.slice(0, maxDifferences);
}

function compare(table: string, columns: string, found: ReadonlyMap<string, string>): string[] {
  const [wanted, seen] = [columns.split(', '), found.get(table)?.split(', ')];
  if (seen === undefined) return [`table ${table} is missing`];
  const lacking = wanted.filter((column) => !seen.includes(column));
  const surplus = seen.filter((column) => !wanted.includes(column));
  return [
    ...lacking.map((column) => `table ${table} lacks ${column}`),
    ...surplus.map((column) => `table ${table} has ${column}`),
  ];
}
