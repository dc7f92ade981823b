import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check, countRows, extract, firstOf, problemOf, read, readOn } from '../connectors/db-reader.ts';
import { adminKey, forSuite, makeWorld, until, type World } from '../journey/world.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { describeWithServer, reportMissing } from '../servers/describe.ts';
import { hasPgbouncer, type Pgbouncer, type PoolMode, startPgbouncer } from '../servers/pgbouncer.ts';
import type { ServerSettings, TestServer } from '../servers/server.ts';

/** More than all buffers along the way can hold, so a reader that stops is in the middle. */
const many = "select g, repeat('x', 1000) as fill from generate_series(1, 2000000) g";
const endless = "select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b, repeat('busy', 1)";

const everyType = `select 1::int2 a, '-9223372036854775808'::int8 b, 1.50::numeric c, 'NaN'::numeric d, 0.1::float8 + 0.2 e, true f,
  'é漢😀'::text g, 'ab'::char(4) h, date '0044-03-15 BC' i, timestamp 'infinity' j, timestamptz '2024-01-01 00:00+02' k,
  timetz '04:05:06+02' l, interval '-1 year 2 days' m, '\\x00ff'::bytea n, '{"a": 1.0}'::jsonb o, array[1, null] p,
  'abcdef01-2345-6789-abcd-ef0123456789'::uuid q, '10.0.0.0/8'::inet r, int4range(1, 5) s, b'101' t, null::text u,
  'sad'::mood v, array['sad']::mood[] w`;

if (!hasPgbouncer()) reportMissing('PgBouncer', ['PgBouncer'], 'pgbouncer');
else describeWithServer({ servers: 'PostgreSQL' }, 'PgBouncer', describePools);

function describePools(server: () => TestServer): void {
  const scope = forSuite();
  let admin: pg.Client;
  let world: World;

  async function connectAdmin(): Promise<void> {
    admin = new pg.Client(server().url);
    admin.on('error', () => {});
    await admin.connect();
  }

  beforeAll(async () => {
    world = await makeWorld({ scope });
    await connectAdmin();
    await admin.query(`create type mood as enum ('sad'); create table orders (id int primary key, name text);
      insert into orders select g, 'n' || g from generate_series(1, 1000) g`);
  });
  afterAll(() => admin.end());

  async function pool(mode: PoolMode, settings: ServerSettings = {}): Promise<Pgbouncer> {
    const pgbouncer = await startPgbouncer(server(), mode, settings);
    scope(() => pgbouncer.stop());
    return pgbouncer;
  }

  const isBusy = async (words: string) =>
    (await admin.query("select from pg_stat_activity where state = 'active' and query like $1", [`%${words}%`]))
      .rowCount! > 0;

  describe.each(['session', 'transaction'] as const)('in %s mode', (mode) => {
    let pgbouncer: Pgbouncer;
    const source = () => ({ url: pgbouncer.url });
    beforeAll(async () => {
      pgbouncer = await pool(mode);
    });

    it('returns every type as the server itself does, and leaves no settings for the next client', async () => {
      expect(await check(source())).toMatch(/^PostgreSQL .* as sluice on postgres$/);
      expect(await read(source(), everyType)).toEqual(await read({ url: server().url }, everyType));
      const next = new pg.Client(pgbouncer.url);
      await next.connect();
      const settings = 'timezone datestyle intervalstyle bytea_output statement_timeout'.split(' ');
      const own = await admin.query(settings.map((name) => `show ${name}`).join(';'));
      const left = await next.query(settings.map((name) => `show ${name}`).join(';'));
      await next.end();
      const shown = (results: unknown) => (results as pg.QueryResult[]).map(({ rows }) => rows);
      expect(shown(left)).toEqual(shown(own));
    });

    it.each([0, 1000])('returns each of many rows only once, in slices of %d', async (fetchRows) => {
      const sql = 'select g from generate_series($1::int, 100000) g';
      const { rows } = await read(source(), { sql, parameters: [1], fetch_rows: fetchRows });
      expect(rows).toEqual(Array.from({ length: 100_000 }, (_, i) => [String(i + 1)]));
    });

    it('returns only the new rows since the last run, and can read in chunks', async () => {
      const query = { sql: 'select * from orders', cursor: 'id' };
      const first = await readOn(source(), query);
      expect(first.rows).toHaveLength(1000);
      await admin.query("insert into orders values (1001, 'late')");
      const second = await readOn(source(), query, first.watermark);
      expect(second.rows).toEqual([['1001', 'late']]);
      expect(await readOn(source(), query, second.watermark)).toMatchObject({ rows: [], unchanged: true });
      const { rows } = await read(source(), { sql: query.sql, chunks: { column: 'id', rows: 100 } });
      expect(rows.map(([id]) => id)).toEqual(Array.from({ length: 1001 }, (_, i) => String(i + 1)));
      await admin.query('delete from orders where id > 1000');
    });

    it('cancels the statement on the server if the run is stopped', async () => {
      const stop = new AbortController();
      const { batches } = await extract(source(), { sql: endless, fetch_rows: 0 }, { signal: stop.signal });
      const reading = countRows(batches);
      await until('the statement to run', () => isBusy('busy'));
      stop.abort(new Error('enough'));
      await expect(reading).rejects.toThrow('enough');
      await until('the statement to end', async () => !(await isBusy('busy')));
    });

    it('lets a sync disconnect from the server and exit on SIGTERM, and nothing is delivered', async () => {
      const home = await world.home();
      const target = await world.instance('csv');
      await home.config({
        destinations: { main: { url: world.url, api_key: adminKey } },
        sources: { shop: { connector: 'db', url: pgbouncer.url } },
        jobs: { orders: { source: 'shop', query: endless, format: 'csv', target } },
      });
      const sync = home.start(['sync', '--json']);
      await until('the statement to run', () => isBusy('busy'));
      sync.child.kill('SIGTERM');
      expect(await sync.ended).toMatchObject({ code: 143 });
      await until('the statement to end', async () => !(await isBusy('busy')));
      expect(await world.data(target)).toBeNull();
    });

    it("doesn't leave the statement of a stopped sync running if PgBouncer was stalled", async () => {
      const home = await world.home();
      await home.config({
        destinations: { main: { url: world.url, api_key: adminKey } },
        sources: { shop: { connector: 'db', url: pgbouncer.url } },
        jobs: { orders: { source: 'shop', query: endless, format: 'csv', target: world.instances.csv } },
      });
      const sync = home.start(['sync']);
      await until('the statement to run', () => isBusy('busy'));
      await pgbouncer.signal('SIGSTOP');
      sync.child.kill('SIGTERM');
      await Promise.race([sync.ended, wait(2500)]);
      await pgbouncer.signal('SIGCONT');
      expect(await sync.ended).toMatchObject({ code: 143 });
      await until('the statement to end', async () => !(await isBusy('busy')));
    });

    it('never makes some rows look like all rows if the server, its backend or PgBouncer stops midway', async () => {
      const ends: (() => Promise<unknown>)[] = [
        () =>
          admin.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where query like '%fill%' and pid <> pg_backend_pid()",
          ),
        async () => {
          await server().restart();
          await connectAdmin();
        },
        () => pgbouncer.admin('kill postgres').then(() => pgbouncer.admin('resume postgres')),
        () => pgbouncer.restart(),
      ];
      for (const end of ends) {
        const iterator = await firstOf(await extract(source(), many));
        await end();
        const rest = (async () => {
          while (!(await iterator.next()).done);
        })();
        expect(await problemOf(rest)).toMatchObject({ family: 'try_later' });
        expect((await read(source(), 'select count(*) from orders')).rows).toEqual([['1000']]);
      }
    });

    it('lets a read finish that was running at PAUSE, and lets another one start after RESUME', async () => {
      const iterator = await firstOf(
        await extract(source(), "select g, repeat('x', 1000) from generate_series(1, 20000) g"),
      );
      const paused = pgbouncer.admin('pause');
      let rows = 0;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) rows += next.value.length;
      expect(rows).toBeGreaterThan(18_000);
      await paused;
      const waiting = read(source(), 'select count(*) from orders');
      await pgbouncer.admin('resume');
      expect((await waiting).rows).toEqual([['1000']]);
    });
  });

  it('in statement mode is rejected even by check, and the error shows the required change', async () => {
    const { url } = await pool('statement');
    const wanted = { code: 'DB_POOL_MODE', family: 'config', next: expect.stringContaining('pool_mode') };
    expect(await problemOf(check({ url }))).toMatchObject(wanted);
    expect(await problemOf(read({ url }, 'select 1'))).toMatchObject(wanted);
  });

  describe('PgBouncer refuses', () => {
    let pgbouncer: Pgbouncer;
    let encrypted: Pgbouncer;
    beforeAll(async () => {
      pgbouncer = await pool('transaction', {
        settings: { query_wait_timeout: 1 },
      });
      encrypted = await pool('transaction', { tls: await makeCertificates(['IP:127.0.0.1']) });
    });

    it.each([
      ['a wrong password', 'test-password', 'wrong', 'DB_LOGIN_REFUSED', 'login', 'user and password'],
      ['an unknown user', 'sluice:', 'nobody:', 'DB_LOGIN_REFUSED', 'login', 'user and password'],
      ['an unknown database', '/postgres', '/nowhere', 'DB_NO_DATABASE', 'config', 'database'],
    ])('%s', async (_title, from, to, code, family, next) => {
      const url = pgbouncer.url.replace(new RegExp(`${from}(?!.*${from})`), to);
      const problem = await problemOf(check({ url }));
      expect(problem).toMatchObject({ code, family, next: expect.stringContaining(next) });
    });

    it('a connection without TLS for a user that requires TLS', async () => {
      expect(await problemOf(check({ url: encrypted.url }))).toMatchObject({
        code: 'DB_TLS_REQUIRED',
        family: 'config',
      });
      expect(await check({ url: encrypted.url, tls: { mode: 'require', verify: false } })).toContain('PostgreSQL');
    });

    it('a statement that exceeds query_timeout, and the error names that limit', async () => {
      const { url } = await pool('transaction', { settings: { query_timeout: 1 } });
      const problem = await problemOf(read({ url }, 'select pg_sleep(60)'));
      expect(problem).toMatchObject({
        code: 'DB_STATEMENT_CANCELLED',
        family: 'job',
        next: expect.stringContaining("PgBouncer's query_timeout"),
      });
    });

    it.each([
      ['its pool is exhausted', {}, 1, 'default_pool_size'],
      ['it has too many clients', { max_client_conn: 1 }, 1, 'max_client_conn'],
    ])('a connection over its limit, until there is a free one: %s', async (_title, limit, clients, next) => {
      const settings = { default_pool_size: 1, query_wait_timeout: 1, ...limit };
      const full = await pool('session', { settings });
      const holders = Array.from({ length: clients }, () => new pg.Client(full.url));
      for (const holder of holders) await holder.on('error', () => {}).connect();
      for (const holder of holders) await holder.query('select 1');
      const wanted = { code: 'DB_SERVER_BUSY', family: 'try_later', next: expect.stringContaining(next) };
      expect(await problemOf(check({ url: full.url }))).toMatchObject(wanted);
      for (const holder of holders) await holder.end();
      expect(await check({ url: full.url })).toContain('PostgreSQL');
    });

    it("connections while the server behind it is unavailable, and accepts them once it's back", async () => {
      await admin.end();
      await server().kill();
      const problem = await problemOf(check({ url: pgbouncer.url }));
      await server().restart();
      await connectAdmin();
      expect(problem).toMatchObject({
        code: 'DB_SERVER_BUSY',
        family: 'try_later',
        next: expect.stringContaining('behind'),
      });
      expect(await check({ url: pgbouncer.url })).toContain('PostgreSQL');
    });
  });
}
