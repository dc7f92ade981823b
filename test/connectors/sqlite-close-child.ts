import { QueryProcess } from '../../connectors/db/query-process.ts';
import type { SqliteColumn, SqliteOrder, SqliteRows } from '../../connectors/db/sqlite-file.ts';

/**
 * Many times, closes a reader of the file in the first argument while its next rows are on their way. Nothing else
 * keeps this process alive: if `close` doesn't either, it ends with code 13.
 */
const [path = ''] = process.argv.slice(2);
for (let n = 0; n < 20; n++) {
  const reader = new QueryProcess<SqliteOrder, SqliteColumn, SqliteRows>({
    entry: 'sqlite-child',
    title: 'SQLite',
    signal: new AbortController().signal,
    timeoutMs: 0,
    errorOf: ({ message }) => new Error(message),
  });
  await reader.open({ path, timeoutMs: 1000, sql: 'select 1 as n', parameters: [] });
  await reader.rows();
  const next = reader.rows().catch(() => undefined);
  await reader.close();
  await next;
}
process.stdout.write('closed');
