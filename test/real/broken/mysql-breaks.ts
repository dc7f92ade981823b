import type { Break, Middle } from './breaks.ts';

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const chunks = { chunks: { column: 'id', rows: 20_000 } };

/** Kills the reader's connection, or its statement. */
const killing =
  (what: 'connection' | 'query') =>
  ({ run }: Middle) =>
    run(`set @k = (select concat('kill ${what} ', max(id)) from information_schema.processlist where user = 'reader');
      prepare k from @k; execute k`);

/** Ways in which reading MySQL or MariaDB fails. */
export const mysqlBreaks: readonly Break[] = [
  {
    how: 'its connection is killed',
    act: killing('connection'),
    ends: ['DB_(CONNECTION_LOST|STATEMENT_CANCELLED|SERVER_BUSY)', /lost|interrupted|killed/],
  },
  { how: 'its statement is killed', act: killing('query'), ends: ['DB_STATEMENT_CANCELLED', /interrupted/] },
  {
    how: 'the server is shut down',
    act: async ({ server }) => {
      await server.signal('SIGTERM');
      await wait(500);
    },
    after: ({ server }) => server.restart(),
    ends: ['DB_(CONNECTION_LOST|SERVER_BUSY)', /lost before|shutdown|killed/],
  },
  {
    how: 'the limit of the source for statements is reached',
    source: { statement_timeout_seconds: 0.3 },
    act: () => wait(600),
    ends: ['DB_STATEMENT_CANCELLED', /max_statement_time|maximum statement execution time|interrupted/],
  },
  {
    how: 'the limits of the server for idle connections are passed',
    before: ({ run }) => run('set global wait_timeout = 1, global net_write_timeout = 1, global net_read_timeout = 1'),
    act: () => wait(2500),
    after: ({ run }) =>
      run('set global wait_timeout = default, global net_write_timeout = default, global net_read_timeout = default'),
    ends: 'whole',
  },
  {
    how: 'a lock on the table is not given in time',
    before: async ({ run, hold }) => {
      await run('set global lock_wait_timeout = 1');
      await hold('lock tables orders write');
    },
    after: ({ run }) => run('set global lock_wait_timeout = default'),
    ends: ['DB_SERVER_BUSY', /[Ll]ock wait timeout/],
  },
  {
    how: 'a row in the middle is out of range',
    sql: 'select id, {wide} as fill, cast(9223372036854745807 + id as signed) + 1 as share from orders',
    ends: ['DB_QUERY_FAILED', /out of range/],
  },
  {
    how: 'memory for sorting is at its end',
    sql: 'select id, {wide} as fill from orders order by md5(id)',
    before: ({ run }) => run('set global sort_buffer_size = 1024, global max_length_for_sort_data = 8388608'),
    after: ({ run }) => run('set global sort_buffer_size = default, global max_length_for_sort_data = default'),
    ends: 'whole',
  },
  {
    how: 'the account has no connection left',
    before: async ({ run, hold }) => {
      await run('alter user reader with max_user_connections 1');
      await hold('do 0', 'reader');
    },
    after: ({ run }) => run('alter user reader with max_user_connections 0'),
    ends: ['DB_SERVER_BUSY', /max_user_connections/],
  },
  {
    how: 'the password is changed before the next chunk',
    query: chunks,
    act: ({ run }) => run("alter user reader identified by 'changed'"),
    after: ({ run }) => run("alter user reader identified by 'reader-password'"),
    ends: ['DB_LOGIN_REFUSED', /Access denied/],
  },
  {
    how: 'the right to read is taken away before the next chunk',
    query: chunks,
    act: ({ run }) => run('revoke all on test.* from reader'),
    after: ({ run }) => run('grant all on test.* to reader'),
    ends: ['DB_(QUERY_FAILED|NO_DATABASE|LOGIN_REFUSED)', /denied/],
  },
  {
    how: 'its connection is killed between chunks, which goes on behind the last row',
    query: chunks,
    act: killing('connection'),
    ends: 'whole',
  },
  {
    how: 'the server becomes read-only, as a primary that was made a replica',
    act: ({ run }) => run('set global read_only = on'),
    after: ({ run }) => run('set global read_only = off'),
    ends: 'whole',
  },
];
