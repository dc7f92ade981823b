import { defineConnector, Problem } from '#sdk';
import { driverOf, faultsOf } from './address.ts';
import type { Driver } from './driver.ts';
import { mysql } from './mysql.ts';
import { type DriverName, query, type SourceValues, source } from './options.ts';
import { postgres } from './postgres.ts';
import { sqlite } from './sqlite.ts';

const byName: Readonly<Record<DriverName, Driver>> = { postgres, mysql, mariadb: mysql, sqlite };

function driverFor(given: SourceValues): Driver {
  const name = driverOf(given);
  if (name !== undefined) return byName[name];
  throw new Problem({
    code: 'DB_NO_DRIVER',
    family: 'config',
    message: 'neither driver nor url says which kind of database it is',
    allowed: Object.keys(byName).join(', '),
    next: 'write the option driver',
  });
}

export default defineConnector({
  id: 'db',
  title: 'Database',
  summary: 'Reads the result of one query from PostgreSQL, MySQL, MariaDB or SQLite.',
  source,
  query,
  shorthand: 'sql',
  validate: faultsOf,
  check: (context) => driverFor(context.source).check(context),
  extract: ({ query, ...door }) => driverFor(door.source).extract(door, query),
});
