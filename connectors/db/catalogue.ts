import { type Batch, batchText, Problem, withDefaults } from '#sdk';
import type { RunQuery } from './dialect.ts';
import type { Driver } from './driver.ts';
import { query as queryOptions, type SqlQuery } from './options.ts';
import { quotedTable } from './table.ts';

/** A table's column in the database's catalogue. */
export interface CatalogueColumn {
  readonly name: string;
  readonly type: string;
  /** Position in the primary key. */
  readonly key: number | undefined;
}

/** A table or view in the database's catalogue. */
export interface CatalogueTable {
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly columns: CatalogueColumn[];
}

/** The tables in the result of a catalogue query. */
export async function tablesIn(batches: AsyncIterable<Batch>): Promise<CatalogueTable[]> {
  const tables = new Map<string, CatalogueTable>();
  for await (const batch of batches) for (const row of batchText(batch)) addColumn(tables, row);
  return [...tables.values()];
}

/**
 * The rows of a catalogue. Each row contains the schema (empty for the default schema), the table, its kind, the
 * column, its type and its position in the primary key.
 */
function addColumn(tables: Map<string, CatalogueTable>, row: readonly (string | null)[]): void {
  const [schema, name, kind, column, type, key] = row.map((cell) => cell ?? '') as [string, ...string[]];
  const id = JSON.stringify([schema, name]);
  const table = tables.get(id) ?? { schema, name: name!, kind: kind === 'view' ? 'view' : 'table', columns: [] };
  table.columns.push({ name: column!, type: type!, key: key === '' ? undefined : Number(key) });
  tables.set(id, table);
}

/** The columns of the primary key, in the key's order. */
export function keyIn(columns: readonly CatalogueColumn[]): CatalogueColumn[] {
  return columns.filter(({ key }) => key !== undefined).sort((a, b) => a.key! - b.key!);
}

/**
 * The columns of the primary key of the query's table, in the key's order, from the database's catalogue.
 *
 * @throws Problem `DB_NO_KEY` if the table has no primary key, or if the query doesn't read all of its columns
 */
export async function primaryKeyOf(
  { table = '', columns }: SqlQuery,
  { driver, ask, database = '' }: { driver: Driver; ask: RunQuery; database?: string | undefined },
): Promise<readonly [string, ...string[]]> {
  const parts = table.split('.');
  const asked = driver.catalogue.one(parts, quotedTable(table, driver.dialect), database);
  const { batches } = await ask({ ...withDefaults(queryOptions, {}), ...asked });
  const tables = await tablesIn(batches);
  // Names that differ only in case can be one table or several, depending on the server.
  const found = tables.find(({ name }) => name === parts.at(-1)) ?? (tables.length === 1 ? tables[0] : undefined);
  const [first, ...others] = keyIn(found?.columns ?? []).map(({ name }) => name);
  if (first === undefined) throw noKey(table, 'has no primary key, or the database does not show it', []);
  const key = [first, ...others] as const;
  const unread = columns.length === 0 ? [] : key.filter((name) => !columns.includes(name));
  if (unread.length > 0) throw noKey(table, 'is read without columns of its primary key', unread);
  return key;
}

function noKey(table: string, what: string, unread: readonly string[]): Problem {
  const names = unread.map((name) => JSON.stringify(name)).join(', ');
  return new Problem({
    code: 'DB_NO_KEY',
    family: 'config',
    message: `table ${JSON.stringify(table)} ${what}, so its rows cannot be read in chunks without column`,
    next:
      unread.length > 0
        ? `add ${names} to columns`
        : 'set column in chunks to one or more columns that are never null and together unique',
  });
}
