import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Home } from '../journey/home.ts';
import { forTest } from '../journey/process.ts';
import { adminKey, forSuite, makeWorld, type World } from '../journey/world.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { describeWithServer, type ServerKind } from '../servers/describe.ts';
import { openGate } from '../servers/gate.ts';
import { type Administrator, administrate } from './broken/administrator.ts';
import { type Break, type Middle, onTheWay } from './broken/breaks.ts';
import { mysqlBreaks } from './broken/mysql-breaks.ts';
import { postgresBreaks } from './broken/postgres-breaks.ts';

const rows = 40_000;
/** Rows of the previous run. */
const older = 10;
const certificates = makeCertificates(['IP:127.0.0.1'], { type: 'rsa' });

interface Kind {
  readonly server: ServerKind;
  readonly breaks: readonly Break[];
  /** Creates the account that reads. */
  readonly reader: string;
  /** Creates and fills the table. */
  readonly orders: string;
}

const numbers = 'with recursive n (id) as (select 1 union all select id + 1 from n where id < 200)';
const mysql: Omit<Kind, 'server'> = {
  breaks: mysqlBreaks,
  reader: "create user reader identified by 'reader-password'; grant all on test.* to reader",
  orders: `create table orders (id bigint primary key);
    insert into orders ${numbers} select (a.id - 1) * 200 + b.id from n a, n b`,
};

const kinds: readonly Kind[] = [
  {
    server: 'PostgreSQL',
    breaks: postgresBreaks,
    orders: `create table orders (id bigint primary key); insert into orders select generate_series(1, ${rows});
      analyze orders; grant select on orders to reader`,
    reader: "create role reader login password 'reader-password'",
  },
  { server: 'MariaDB', ...mysql },
  { server: 'MySQL', ...mysql },
];

/** A job with a different query that has not read anything yet. */
const isAnother = ({ sql, query }: Break) => sql !== undefined || query !== undefined;

const csv = (from: number, to: number) =>
  `id\n${Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\n`).join('')}`;

for (const { server: kind, breaks, orders, reader } of kinds) {
  describeWithServer(
    { servers: kind, settings: async () => ({ tls: await certificates }) },
    `a read of ${kind} is complete, or fails with a message and moves no watermark:`,
    (server) => {
      const scope = forSuite();
      let world: World;
      let instance: string;
      /** A user whose job has read the first rows. */
      let seed: Home;

      const text = (sql: string) => sql.replaceAll('{wide}', "repeat('x', 1000)").replaceAll('{orders}', orders);

      async function run(sql: string): Promise<void> {
        const admin = await administrate(server().url);
        await admin.run(text(sql)).finally(() => admin.close());
      }

      async function configure(home: Home, port: number, given: Partial<Break> = {}): Promise<void> {
        const { protocol, pathname } = new URL(server().url);
        const sql = text(given.sql ?? 'select id, {wide} as fill from orders');
        await home.config({
          destinations: { main: { url: world.url, api_key: adminKey } },
          sources: {
            shop: {
              connector: 'db',
              url: `${protocol}//reader:reader-password@127.0.0.1:${port}${pathname}`,
              ...given.source,
            },
          },
          jobs: {
            orders: {
              source: 'shop',
              query: {
                sql,
                ...(given.query !== undefined && 'chunks' in given.query ? {} : { cursor: 'id' }),
                ...given.query,
              },
              transforms: [{ select: ['id'] }],
              format: 'csv',
              target: instance,
              ...given.job,
            },
          },
        });
      }

      const sync = async (home: Home) => (await home.sync({ args: ['--wait', '0'] })).jobs[0];

      beforeAll(async () => {
        world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
        instance = await world.instance('csv');
        await run(`${reader}; {orders}; delete from orders where id > ${older}`);
        seed = await world.home(scope);
        await configure(seed, server().port);
        expect(await sync(seed)).toMatchObject({ state: 'delivered', rows: older });
        await run('drop table orders; {orders}');
      });

      it.for(breaks.concat(onTheWay).map((given) => [given.how, given] as const))('%s', async ([, given]) => {
        const home = await world.home();
        await cp(join(seed.folder, 'state'), join(home.folder, 'state'), { recursive: true });
        const gate = await openGate(server().port, given.atBytes ?? 1_000_000, forTest);
        await configure(home, gate.port, given);
        const [before, shown] = [home.state().watermarks, await world.data(instance)];
        const connections: Administrator[] = [];
        let waiting: Promise<void> | undefined;
        const connect = async (url: string) => {
          const connection = await administrate(url);
          connections.push(connection);
          return connection;
        };
        const { url, user, password } = server();
        const asReader = url.replace(`${user}:${password}`, 'reader:reader-password');
        const middle: Middle = {
          server: server(),
          gate,
          run,
          begin: async (sql) => {
            waiting = (await connect(url)).run(sql);
            await (await connect(url)).untilWaits(sql);
          },
          hold: async (sql, as) => await (await connect(as === 'reader' ? asReader : url)).run(sql),
        };
        await given.before?.(middle);
        const running = home.start(['sync', '--json', '--wait', '0']);
        if (given.act !== undefined) {
          await Promise.race([gate.held, running.ended]);
          await given.act(middle);
        }
        if (!given.staysHeld) gate.release();
        const { code, stdout, stderr } = await running.ended;
        await waiting;
        for (const connection of connections) await connection.close();
        await given.after?.(middle);
        expect(stderr).not.toMatch(/bug in Sluice/);
        const problem = stdout === '' ? undefined : JSON.parse(stdout).jobs[0].problem;
        if (given.ends === 'whole') {
          expect({ code, problem, stderr }).toEqual({ code: 0, problem: undefined, stderr });
          expect(await world.data(instance)).toBe(isAnother(given) ? csv(1, rows) : csv(older + 1, rows));
          return;
        }
        const [wanted, words] = given.ends;
        expect(`${problem?.code}: ${problem?.message} ${problem?.seen}`).toMatch(words);
        expect(problem.code).toMatch(new RegExp(`^${wanted}$`));
        expect(code).toBe(1);
        expect(await world.data(instance)).toBe(shown);
        expect(home.state().watermarks).toEqual(before);
        expect(home.state().outbox.filter(({ state }) => state !== 'delivered')).toEqual([]);
      });
    },
  );
}
