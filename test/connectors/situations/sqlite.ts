import { join } from 'node:path';
import { SqliteDatabase } from '../../../src/lib/sqlite.ts';
import type { Situation } from './situation.ts';
import type { Stage } from './stage.ts';

const sqliteSlow =
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000000) select count(*) as n from n';

export const sqliteSituations: readonly Situation[] = [
  [
    'the file does not exist',
    (at) => at.check(at.file('missing.sqlite')),
    'DB_NO_FILE config',
    /missing\.sqlite/,
    /file option/,
  ],
  ['the file is a folder', (at) => at.check(at.file('.')), 'DB_NO_FILE config', /it is a folder/, /file option/],
  [
    'the file is not a database',
    (at) => at.check(at.file('notes.txt')),
    'DB_NO_FILE config',
    /not a database/,
    /file option/,
  ],
  [
    'the file is truncated',
    (at) => at.read(at.file('cut.sqlite'), 'select i from many'),
    'DB_FILE_DAMAGED job',
    /malformed/,
    /integrity_check/,
  ],
  ['another program locks the file', readLockedFile, 'DB_SERVER_BUSY try_later', /locked/, /retries/],
  [
    'the query has a typo',
    (at) => at.read(at.file(), 'selec 1'),
    'DB_QUERY_FAILED job',
    /near "selec"/,
    /fix the query/,
  ],
  [
    'the query writes',
    (at) => at.read(at.file(), 'insert into orders values (1, 1) returning id'),
    'DB_WRITE_REFUSED job',
    /readonly database/,
    /only reads/,
  ],
  [
    'a parameter is missing',
    (at) => at.read(at.file(), { sql: 'select ? as a, ? as b', parameters: [1] }),
    'DB_QUERY_FAILED job',
    /has 2 parameters/,
    /its parameters/,
  ],
  [
    'a parameter has a name',
    (at) => at.read(at.file(), { sql: 'select :a', parameters: [1] }),
    'DB_QUERY_FAILED job',
    /:a; use \?/,
    /its parameters/,
  ],
  [
    'the query takes too long',
    (at) => at.read({ ...at.file(), statement_timeout_seconds: 0.2 }, sqliteSlow),
    'DB_STATEMENT_CANCELLED job',
    /timed out/,
    /statement_timeout_seconds/,
  ],
  [
    'a later value has another type',
    (at) =>
      at.read(
        at.file(),
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) select iif(i < 2000, i, 'x') as v from n",
      ),
    'DB_VALUE_TYPE row',
    /row 2000/,
    /cast\(v as text\)/,
  ],
];

async function readLockedFile(at: Stage): Promise<unknown> {
  const holder = new SqliteDatabase(join(at.folder, 'shop.sqlite'));
  holder.exec('begin exclusive');
  try {
    return await at.read({ ...at.file(), connect_timeout_seconds: 0.1 }, 'select 1 from orders');
  } finally {
    holder.exec('rollback');
    holder.close();
  }
}
