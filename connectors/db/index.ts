import { defineConnector, meantWatermark, Problem } from '#sdk';
import { googleOAuth } from '../_google-oauth.ts';
import { accountOf, driverOf, usesOAuth } from './address.ts';
import { discoverBy } from './discover.ts';
import type { Driver } from './driver.ts';
import { checkBy, extractBy } from './extract.ts';
import { faultsOf } from './option-faults.ts';
import { type DriverName, query, type SourceValues, source } from './options.ts';
import { reference } from './reference.ts';

const mysql = async (): Promise<Driver> => (await import('./mysql.ts')).mysql;

/** Loads each driver on demand, because loading all of them would take longer than many runs. */
const byName: Readonly<Record<DriverName, () => Promise<Driver>>> = {
  postgres: async () => (await import('./postgres.ts')).postgres,
  mysql,
  mariadb: mysql,
  sqlite: async () => (await import('./sqlite.ts')).sqlite,
  sqlserver: async () => (await import('./sqlserver.ts')).sqlserver,
  clickhouse: async () => (await import('./clickhouse.ts')).clickhouse,
  duckdb: async () => (await import('./duckdb.ts')).duckdb,
  bigquery: async () => (await import('./bigquery.ts')).bigquery,
  snowflake: async () => (await import('./snowflake.ts')).snowflake,
};

async function driverFor(given: SourceValues): Promise<Driver> {
  const name = driverOf(given);
  if (name !== undefined) return byName[name]();
  throw new Problem({
    code: 'DB_NO_DRIVER',
    family: 'config',
    message: 'unknown kind of database: neither driver nor url is set',
    allowed: Object.keys(byName).join(', '),
    next: 'set the driver option',
  });
}

export default defineConnector({
  id: 'db',
  title: 'Database',
  summary:
    'Reads a table or the result of one query from PostgreSQL, MySQL, MariaDB, SQLite, SQL Server, ClickHouse, BigQuery, Snowflake, DuckDB or Parquet files.',
  source,
  query,
  ...reference,
  shorthand: 'sql',
  givesOnlyNewBy: ({ cursor }) => (cursor === undefined ? undefined : 'cursor'),
  rangesBy: ({ cursor }) => cursor,
  readsKeys: ({ cursor }) => cursor !== undefined,
  columnsFirst: true,
  account: accountOf,
  oauth: (given) => (usesOAuth(given) ? googleOAuth('bigquery') : undefined),
  readsOnFrom: (text, { former, query: { cursor } }) => meantWatermark(text, { former, cursor }),
  validate: faultsOf,
  check: async (context) => checkBy(await driverFor(context.source), context),
  discover: async (context) => discoverBy(await driverFor(context.source), context),
  extract: async (context) => extractBy(await driverFor(context.source), context),
});
