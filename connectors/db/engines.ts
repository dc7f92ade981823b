import type { DatabaseEngine } from './database-engine.ts';
import { bigquery } from './engines/bigquery.ts';
import { clickhouse } from './engines/clickhouse.ts';
import { duckdb } from './engines/duckdb.ts';
import { mariadb } from './engines/mariadb.ts';
import { mysql } from './engines/mysql.ts';
import { postgres } from './engines/postgres.ts';
import { snowflake } from './engines/snowflake.ts';
import { sqlite } from './engines/sqlite.ts';
import { sqlserver } from './engines/sqlserver.ts';
import type { DriverName } from './options.ts';

/** All kinds of databases, by their drivers' names. */
export const engines: Readonly<Record<DriverName, DatabaseEngine>> = {
  postgres,
  mysql,
  mariadb,
  sqlite,
  sqlserver,
  clickhouse,
  duckdb,
  bigquery,
  snowflake,
};

const all = Object.values(engines);

/** Whether the databases of this driver are local files. */
export function readsFiles(driver: DriverName | undefined): driver is DriverName {
  return driver !== undefined && engines[driver].isFile === true;
}

/** The titles of the engines that an option is for: `PostgreSQL, MySQL and MariaDB`. */
export function titlesOf(isFor: (engine: DatabaseEngine) => boolean): string {
  const titles = all.filter(isFor).map(({ title }) => title);
  return new Intl.ListFormat('en-GB').format(titles);
}
