import { type Kysely, sql } from 'kysely';
import { newestTables } from '../migrations/newest-tables.generated.ts';
import type { Tables } from '../tables.ts';

const maxDifferences = 5;

/** The columns and indexes of a state's tables, in the form of `newestTables`. */
const tablesIn = (schema: string) => sql<{ name: string; parts: string }>`
  select c.relname as name, string_agg(p.part, '; ') as parts
  from pg_namespace n join pg_class c on c.relnamespace = n.oid cross join lateral (
    select attname || ' ' || format_type(atttypid, null) || case when attnotnull then ' not null' else '' end as part
    from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
    union all
    select case when i.indisunique then 'unique (' else 'index (' end ||
      string_agg(a.attname, ', ' order by k.place) || ')' || case when i.indpred is null then '' else ' partial' end
    from pg_index i cross join unnest(i.indkey::int2[]) with ordinality as k (number, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    where i.indrelid = c.oid and i.indisvalid
    group by i.indexrelid, i.indisunique, i.indpred is null
  ) p
  where n.nspname = ${schema} and c.relkind = 'r'
  group by c.relname`;

/**
 * Returns how the tables of a state on a server differ from the newest schema, such as because an unreleased build
 * created them. Ignores other tables, because the schema may contain some that aren't the state's, and additional
 * indexes, which an administrator may create.
 */
export async function serverDifferences(db: Kysely<Tables>, schema: string): Promise<readonly string[]> {
  const { rows } = await tablesIn(schema).execute(db);
  const found = new Map(rows.map(({ name, parts }) => [name, parts]));
  const differences = Object.entries(newestTables).flatMap(([table, parts]) => compare(table, parts, found));
  return differences.slice(0, maxDifferences);
}

function compare(table: string, parts: string, found: ReadonlyMap<string, string>): string[] {
  const [wanted, seen] = [parts.split('; '), found.get(table)?.split('; ')];
  if (seen === undefined) return [`table ${table} is missing`];
  const lacking = wanted.filter((part) => !seen.includes(part));
  const surplus = seen.filter((part) => !wanted.includes(part) && !part.startsWith('index '));
  return [
    ...lacking.map((part) => `table ${table} lacks ${part}`),
    ...surplus.map((part) => `table ${table} has ${part}`),
  ];
}
