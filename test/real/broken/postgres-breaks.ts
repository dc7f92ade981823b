import type { Break, Middle } from './breaks.ts';

const ours = "from pg_stat_activity where application_name = 'sluice' and usename = 'reader'";
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const reset = ({ run }: Pick<Middle, 'run'>) => run('alter role reader reset all');

const sorting = 'select id, {wide} as fill from orders order by md5(id::text)';

/** Ways in which reading PostgreSQL fails. */
export const postgresBreaks: readonly Break[] = [
  {
    how: 'its backend is terminated',
    act: ({ run }) => run(`select pg_terminate_backend(pid) ${ours}`),
    // While a backend waits for its client to read, it can't report why it ends.
    ends: ['DB_(SERVER_BUSY|CONNECTION_LOST)', /administrator command|lost before/],
  },
  {
    how: 'its statement is cancelled',
    query: { fetch_rows: 0 },
    act: ({ run }) => run(`select pg_cancel_backend(pid) ${ours}`),
    ends: ['DB_STATEMENT_CANCELLED', /user request/],
  },
  {
    how: 'its backend is killed with SIGKILL, and the server recovers',
    // The server may end this connection, too, before it responds.
    act: ({ run }) => run(`copy (select 'kill -9 ' || pid ${ours}) to program 'sh'`).catch(() => undefined),
    after: ({ server }) => server.restart(),
    ends: ['DB_(CONNECTION_LOST|SERVER_BUSY)', /lost before|another server process/],
  },
  {
    how: 'another backend crashes, so that the server ends all',
    act: ({ run }) =>
      run(
        "copy (select 'kill -9 ' || pid from pg_stat_activity where backend_type = 'walwriter') to program 'sh'",
      ).catch(() => undefined),
    after: ({ server }) => server.restart(),
    ends: ['DB_(CONNECTION_LOST|SERVER_BUSY)', /lost before|another server process/],
  },
  {
    how: 'the server is shut down fast',
    act: ({ server }) => server.signal('SIGINT'),
    after: ({ server }) => server.restart(),
    // The server's last message is lost if the connection ends while the client is writing to it.
    ends: ['DB_(SERVER_BUSY|CONNECTION_LOST)', /administrator command|lost before/],
  },
  {
    how: 'the server is shut down immediately',
    act: ({ server }) => server.signal('SIGQUIT'),
    after: ({ server }) => server.restart(),
    ends: ['DB_(CONNECTION_LOST|SERVER_BUSY)', /lost before|immediate shutdown/],
  },
  {
    how: 'the limit of the source for statements is reached',
    source: { statement_timeout_seconds: 0.3 },
    query: { fetch_rows: 0 },
    act: () => wait(600),
    ends: ['DB_STATEMENT_CANCELLED', /statement timeout/],
  },
  {
    how: 'the limit for idle transactions is passed between two slices',
    query: { fetch_rows: 100 },
    atBytes: 60_000,
    before: ({ run }) => run('alter role reader set idle_in_transaction_session_timeout = 5000'),
    act: () => wait(6000),
    after: reset,
    // A transaction counts as idle only after the Sync, which comes at the end.
    ends: 'whole',
  },
  {
    how: 'a lock on the table is not given in time',
    before: async ({ run, hold }) => {
      await run('alter role reader set lock_timeout = 200');
      await hold('begin; lock table orders');
    },
    after: reset,
    ends: ['DB_SERVER_BUSY', /lock timeout/],
  },
  {
    how: 'temporary files are at their limit',
    sql: sorting,
    before: ({ run }) => run("alter role reader set temp_file_limit = '1MB'; alter role reader set work_mem = '64kB'"),
    after: reset,
    ends: ['DB_QUERY_FAILED', /temporary file size exceeds/],
  },
  {
    how: 'memory is at its end',
    sql: "select id, case when id < 39000 then {wide} else repeat('x', 500000000) end as fill from orders",
    act: ({ run }) => run(`copy (select 'prlimit --as=300000000 --pid ' || pid ${ours}) to program 'sh'`),
    ends: ['DB_SERVER_BUSY', /out of memory/],
  },
  {
    how: 'a row in the middle divides by zero',
    sql: 'select id, {wide} as fill, 1 / (30000 - id) as share from orders',
    ends: ['DB_QUERY_FAILED', /division by zero/],
  },
  {
    how: 'the account has no connection left',
    before: ({ run }) => run('alter role reader connection limit 0'),
    after: ({ run }) => run('alter role reader connection limit -1'),
    ends: ['DB_SERVER_BUSY', /too many connections/],
  },
  {
    how: 'the password is changed before the next chunk',
    query: { chunks: { column: 'id', rows: 20_000 } },
    act: ({ run }) => run("alter role reader password 'changed'"),
    after: ({ run }) => run("alter role reader password 'reader-password'"),
    ends: ['DB_LOGIN_REFUSED', /password authentication failed/],
  },
  {
    how: 'the right to read is taken away before the next chunk',
    query: { chunks: { column: 'id', rows: 20_000 } },
    act: ({ run }) => run('revoke select on orders from reader'),
    after: ({ run }) => run('grant select on orders to reader'),
    ends: ['DB_QUERY_FAILED', /permission denied/],
  },
  {
    how: 'its backend is terminated between chunks, which goes on behind the last row',
    query: { chunks: { column: 'id', rows: 20_000 } },
    act: ({ run }) => run(`select pg_terminate_backend(pid) ${ours}`),
    ends: 'whole',
  },
  {
    how: 'the table is rewritten by VACUUM FULL',
    act: ({ begin }) => begin('vacuum full orders'),
    ends: 'whole',
  },
];
