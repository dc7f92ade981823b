import { batchText, type Dataset, type DiscoverContext, isMatch, withDefaults } from '#sdk';
import type { Dialect } from './dialect.ts';
import type { Driver } from './driver.ts';
import { extractBy } from './extract.ts';
import { query, type source } from './options.ts';

interface CatalogueColumn {
  readonly name: string;
  readonly type: string;
  /** Position in the primary key. */
  readonly key: number | undefined;
}

interface CatalogueTable {
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly columns: CatalogueColumn[];
}

/** The tables and views that the login may read, from the database's catalogue. */
export async function discoverBy(
  driver: Driver,
  sql: string,
  context: DiscoverContext<typeof source>,
): Promise<Dataset[]> {
  const asked = { ...context, query: withDefaults(query, { sql }), warn: () => undefined };
  const { batches } = await extractBy(driver, asked);
  const tables = new Map<string, CatalogueTable>();
  for await (const batch of batches) for (const row of batchText(batch)) addColumn(tables, row);
  return [...tables.values()]
    .map((table) => datasetOf(table, driver.dialect))
    .filter(({ name }) => isMatch(name, context.pattern));
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

function datasetOf({ schema, name, kind, columns }: CatalogueTable, dialect: Dialect): Dataset {
  const key = columns.filter((column) => column.key !== undefined).sort((a, b) => a.key! - b.key!);
  const keyNames = key.map((column) => column.name);
  const place = [schema, name].filter((part) => part !== '').map(dialect.quote);
  const list = columns.map((column) => dialect.quote(column.name)).join(', ');
  const order = keyNames.length === 0 ? '' : ` order by ${keyNames.map(dialect.quote).join(', ')}`;
  return {
    name: schema === '' ? name : `${schema}.${name}`,
    kind,
    columns: columns.map((column) => ({ name: column.name, type: column.type })),
    ...(key.length === 0 ? {} : { key: keyNames }),
    cursors: cursorsOf(columns, key),
    query: { sql: `select ${list} from ${place.join('.')}${order}` },
  };
}

const changed =
  /^(?:(?:last_?)?(?:updated?|modified|changed?)_?(?:at|on|time|date|ts)?|(?:last_?)(?:update|change)|mtime)$/i;
const moment = /timestamp|datetime|^date$/i;
const whole = /^(?:(?:big|small|medium)?int(?:eger)?|int[248]|(?:big|small)?serial)\b/i;

/**
 * Finds columns that could be cursors. A last-modified time identifies added and changed rows; a single integer key
 * identifies only added rows.
 */
function cursorsOf(columns: readonly CatalogueColumn[], key: readonly CatalogueColumn[]): string[] {
  const times = columns.filter(({ name, type }) => changed.test(name) && moment.test(type));
  const [only, second] = key;
  const ids = only !== undefined && second === undefined && whole.test(only.type) ? [only] : [];
  return [...times, ...ids].map(({ name }) => name);
}
