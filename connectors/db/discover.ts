import { type Dataset, type DiscoverContext, isMatch, withDefaults } from '#sdk';
import { addressOf } from './address.ts';
import { type CatalogueColumn, type CatalogueTable, keyIn, tablesIn } from './catalogue.ts';
import type { Dialect } from './dialect.ts';
import type { Driver } from './driver.ts';
import { extractBy } from './extract.ts';
import { query, type source } from './options.ts';

/** The tables and views that the login may read, from the database's catalogue. */
export async function discoverBy(driver: Driver, context: DiscoverContext<typeof source>): Promise<Dataset[]> {
  const { database = '' } = addressOf(context.source);
  const sql = driver.catalogue.all(database);
  const asked = { ...context, query: withDefaults(query, { sql }), warn: () => undefined };
  const { batches } = await extractBy(driver, asked);
  return (await tablesIn(batches))
    .map((table) => datasetOf(table, driver.dialect))
    .filter(({ name }) => isMatch(name, context.pattern));
}

function datasetOf({ schema, name, kind, columns }: CatalogueTable, dialect: Dialect): Dataset {
  const key = keyIn(columns);
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
