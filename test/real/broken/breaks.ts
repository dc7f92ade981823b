import type { Gate } from '../../servers/gate.ts';
import type { TestServer } from '../../servers/server.ts';

/** What a break works on, while a read is held in its middle. */
export interface Middle {
  readonly server: TestServer;
  readonly gate: Gate;
  /** Runs a statement as the administrator, over a connection of its own. */
  run(sql: string): Promise<void>;
  /** Begins a statement that has to wait for the read; resolves when it waits. */
  begin(sql: string): Promise<void>;
  /** Runs a statement over a connection that stays until the run has ended. */
  hold(sql: string, as?: 'reader'): Promise<void>;
}

/** One way in which a read of a database breaks, or seems to. */
export interface Break {
  readonly how: string;
  /** Before the read begins. */
  readonly before?: (middle: Middle) => Promise<unknown>;
  /** While the read is held in its middle; a break without it breaks by itself. */
  readonly act?: (middle: Middle) => unknown;
  /** Puts the server right again. */
  readonly after?: (middle: Middle) => Promise<unknown>;
  /** The read is never let go on. */
  readonly staysHeld?: true;
  /** After so many bytes of the server the read is held. */
  readonly atBytes?: number;
  readonly source?: object;
  /** Options of the query besides its text and cursor. */
  readonly query?: object;
  /** Instead of the rows of all the others. */
  readonly sql?: string;
  readonly job?: object;
  /** How the run ends: with a code and words of its problem, or with all rows. */
  readonly ends: 'whole' | readonly [code: string, words: RegExp];
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What happens on the way to any server. */
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
    source: { tls: { mode: 'require' } },
    act: ({ gate }) => gate.cut('reset'),
    ends: ['DB_CONNECTION_LOST', /connection reset/],
  },
  {
    how: 'TLS is cut without its goodbye',
    source: { tls: { mode: 'require' } },
    act: ({ gate }) => gate.cut('end'),
    ends: ['DB_CONNECTION_LOST', /lost before the result was complete/],
  },
  {
    how: 'the server falls silent',
    staysHeld: true,
    job: { stall_timeout_seconds: 1 },
    ends: ['SOURCE_STALLED', /silent/],
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
