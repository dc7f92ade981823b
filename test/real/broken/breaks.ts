import type { Gate } from '../../servers/gate.ts';
import type { TestServer } from '../../servers/server.ts';

/** What a fault can use while a read is paused in the middle. */
export interface Middle {
  readonly server: TestServer;
  readonly gate: Gate;
  /** Runs a statement as the administrator, on a separate connection. */
  run(sql: string): Promise<void>;
  /** Starts a statement that must wait for the read; resolves when it's waiting. */
  begin(sql: string): Promise<void>;
  /** Runs a statement on a connection that stays open until the run has ended. */
  hold(sql: string, as?: 'reader'): Promise<void>;
}

/** One way in which reading a database fails, or seems to fail. */
export interface Break {
  readonly how: string;
  /** Before the read starts. */
  readonly before?: (middle: Middle) => Promise<unknown>;
  /** Called while the read is paused in the middle. A fault without this happens by itself. */
  readonly act?: (middle: Middle) => unknown;
  /** Restores the server. */
  readonly after?: (middle: Middle) => Promise<unknown>;
  /** The read is never resumed. */
  readonly staysHeld?: true;
  /** The read is paused after this many bytes from the server. */
  readonly atBytes?: number;
  readonly source?: object;
  /** Options of the query besides its text and cursor. */
  readonly query?: object;
  /** Replaces the rows of all the others. */
  readonly sql?: string;
  readonly job?: object;
  /** How the run ends: with the code and text of its problem, or with all rows. */
  readonly ends: 'whole' | readonly [code: string, words: RegExp];
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Network faults for any server. */
export const onTheWay: readonly Break[] = [
  {
    how: 'the connection is reset by a proxy',
    act: ({ gate }) => gate.cut('reset'),
    ends: ['DB_CONNECTION_LOST', /connection reset/],
  },
  {
    how: 'the connection is half-closed, as if that were all',
    act: ({ gate }) => gate.cut('end'),
    ends: ['DB_CONNECTION_LOST', /lost before the result was complete/],
  },
  {
    how: 'the connection is reset during the login',
    atBytes: 20,
    act: ({ gate }) => gate.cut('reset'),
    ends: ['DB_UNREACHABLE', /reset/],
  },
  {
    how: 'TLS is reset among the rows',
    source: { tls: { mode: 'require', verify: false } },
    act: ({ gate }) => gate.cut('reset'),
    ends: ['DB_CONNECTION_LOST', /connection reset/],
  },
  {
    how: 'TLS is cut without its goodbye',
    source: { tls: { mode: 'require', verify: false } },
    act: ({ gate }) => gate.cut('end'),
    ends: ['DB_CONNECTION_LOST', /lost before the result was complete/],
  },
  {
    how: 'the server falls silent',
    staysHeld: true,
    job: { stall_timeout_seconds: 1 },
    ends: ['SOURCE_STALLED', /sent no data for 1 s/],
  },
  {
    how: 'the way is silent for two seconds, and goes on',
    act: () => wait(2000),
    ends: 'whole',
  },
  {
    how: 'the server is killed with SIGKILL',
    act: ({ server }) => server.signal('SIGKILL'),
    after: ({ server }) => server.restart(),
    ends: ['DB_CONNECTION_LOST', /lost before the result was complete/],
  },
  {
    how: 'the table has gone before the next chunk',
    query: { chunks: { column: 'id', rows: 20_000 } },
    act: ({ begin }) => begin('drop table orders'),
    after: ({ run }) => run('{orders}'),
    ends: ['DB_QUERY_FAILED', /orders/],
  },
  {
    how: 'the table is emptied before the next chunk',
    query: { chunks: { column: 'id', rows: 20_000 } },
    act: ({ begin }) => begin('truncate table orders'),
    after: ({ run }) => run('drop table orders; {orders}'),
    ends: ['DB_ROWS_GONE', /between two chunks/],
  },
  {
    how: 'the table has one more column before the next chunk',
    sql: 'select {wide} as fill, orders.* from orders',
    query: { chunks: { column: 'id', rows: 20_000 } },
    act: ({ begin }) => begin('alter table orders add column more int'),
    after: ({ run }) => run('alter table orders drop column more'),
    ends: ['DB_COLUMNS_CHANGED', /columns/],
  },
  {
    how: 'the table is dropped',
    act: ({ begin }) => begin('drop table orders'),
    after: ({ run }) => run('{orders}'),
    ends: 'whole',
  },
  {
    how: 'the table is emptied',
    act: ({ begin }) => begin('truncate table orders'),
    after: ({ run }) => run('drop table orders; {orders}'),
    ends: 'whole',
  },
  {
    how: 'the table gets another column',
    sql: 'select orders.*, {wide} as fill from orders',
    act: ({ begin }) => begin('alter table orders add column more int'),
    after: ({ run }) => run('alter table orders drop column more'),
    ends: 'whole',
  },
  {
    how: 'all rows are deleted and others written',
    act: ({ run }) => run('delete from orders; insert into orders values (1)'),
    after: ({ run }) => run('drop table orders; {orders}'),
    ends: 'whole',
  },
];
