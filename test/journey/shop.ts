import pg from 'pg';
import { expect } from 'vitest';
import type { TestServer } from '../servers/server.ts';
import type { Home } from './home.ts';
import { forTest, type Scope } from './process.ts';
import { adminKey, type World } from './world.ts';

/** A table of orders that a job copies, and a dashboard that shows all of it. */
export interface Shop {
  readonly home: Home;
  readonly instance: string;
  /** Runs SQL at the source. */
  run(sql: string): Promise<pg.QueryResult>;
  /** Inserts or updates rows by ID; each change is a minute later than the previous one. */
  put(...rows: readonly (readonly [id: number, name: string, gone?: boolean])[]): Promise<void>;
  /** What the dashboard must show: the result of a SELECT at the source, as csv. */
  wanted(where?: string): Promise<string>;
  shown(): Promise<string | null>;
  /** One sync: in its own process only if it's started in a special way. */
  sync(how?: Parameters<Home['sync']>[0]): ReturnType<Home['sync']>;
  /** Expects the dashboard to show what the source contains. */
  same(where?: string): Promise<void>;
  /** Writes the config again with another job. */
  config(job: object, top?: object): Promise<string>;
}

/** All times are before this one, so new rows are never in the future. */
const began = Date.now() - 3_600_000 * 24;
let tables = 0;

export async function openShop(
  { server, world }: { server: TestServer; world: World },
  { job = {}, top = {}, scope = forTest }: { job?: object; top?: object; scope?: Scope } = {},
): Promise<Shop> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  scope(() => client.end());
  const table = `orders_${++tables}`;
  const run = (sql: string) => client.query(sql.replaceAll('orders', table));
  await run(`create table orders (
    id bigint primary key, name text, amount numeric(20, 2), updated_at timestamptz not null, gone boolean not null)`);
  const instance = await world.instance('csv');
  const home = await world.home(scope);
  let minute = 0;
  const config = (more: object, also: object = {}) =>
    home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { shop: { connector: 'db', url: server.url } },
      jobs: {
        orders: {
          source: 'shop',
          query: { sql: `select * from ${table}`, cursor: 'updated_at', lag: '10m' },
          write: { disposition: 'merge', key: 'id', deleted: 'gone' },
          transforms: [{ select: ['id', 'name', 'amount'] }],
          format: 'csv',
          target: instance,
          ...more,
        },
      },
      ...also,
    });
  await config(job, top);
  const shown = () => world.data(instance);
  const wanted = async (where = 'true') => {
    const { rows } = await run(`select id, name, amount from orders where not gone and ${where} order by id`);
    return ['id,name,amount', ...rows.map((row) => Object.values(row as object).join(','))].join('\n').concat('\n');
  };
  return {
    home,
    instance,
    run,
    put: async (...rows) => {
      for (const [id, name, gone = false] of rows) {
        const at = new Date(began + ++minute * 60_000).toISOString();
        await run(`insert into orders values (${id}, '${name}', ${id}.50, '${at}', ${gone})
          on conflict (id) do update set name = excluded.name, updated_at = excluded.updated_at, gone = excluded.gone`);
      }
    },
    wanted,
    shown,
    sync: (how) => (how === undefined ? home.syncHere() : home.sync(how)),
    same: async (where) => expect(await shown()).toBe(await wanted(where)),
    config,
  };
}
