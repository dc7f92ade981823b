import { createServer, type Server } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { redact } from '../../src/lib/redact.ts';
import { describeWithServer } from '../servers/describe.ts';
import { startPostgres } from '../servers/postgres.ts';
import { check, countRows, extract, firstOf, problemOf, read } from './db-reader.ts';

const many = "select g, repeat('x', 1000) as fill from generate_series(1, 2000000) g";

describeWithServer({ servers: 'PostgreSQL' }, 'the PostgreSQL reader', (server) => {
  let admin: pg.Client;
  const source = () => ({ url: server().url });

  beforeAll(async () => {
    admin = new pg.Client(server().url);
    await admin.connect();
    await admin.query(`create table shop (id int, name text); insert into shop values (1, 'a');
      create sequence numbers; create role alice login password 'alice-secret-word';
      create function fail(code text) returns int language plpgsql as
        $$ begin raise exception 'as asked' using errcode = code; end $$;`);
  });

  afterAll(() => admin.end());

  /** Waits until the server has no connections of ours. */
  async function untilNobodyIsLeft(): Promise<void> {
    const left = "select count(*)::int as n from pg_stat_activity where application_name = 'sluice'";
    await expect.poll(async () => (await admin.query(left)).rows[0].n).toBe(0);
  }

  afterEach(untilNobodyIsLeft);

  it("returns the server's version from check()", async () => {
    expect(await check(source())).toMatch(/^PostgreSQL 1\d\.\d+ as sluice on postgres$/);
  });

  it('also accepts the address as separate options', async () => {
    const { host, port } = server();
    const parts = {
      driver: 'postgres',
      host,
      port,
      database: 'postgres',
      user: 'alice',
      password: 'alice-secret-word',
    };
    expect(await check(parts)).toMatch(/ as alice on postgres$/);
  });

  it('also connects through a Unix socket, and can be stopped there', async () => {
    const { folder: host, port, user, password } = server();
    const local = { driver: 'postgres', host, port, user, password, database: 'postgres' };
    expect(await check(local)).toMatch(/ as sluice on postgres$/);
    const stop = new AbortController();
    const sql = 'select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b';
    const { batches } = await extract(local, { sql, fetch_rows: 0 }, { signal: stop.signal });
    const reading = countRows(batches);
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await untilNobodyIsLeft();
  });

  it.each([0, 1, 7, 10_000])('reads every row once, in order, in slices of %d', async (fetchRows) => {
    const { rows } = await read(source(), { sql: 'select * from generate_series(1, 5000)', fetch_rows: fetchRows });
    expect(rows).toEqual(Array.from({ length: 5000 }, (_, i) => [String(i + 1)]));
  });

  it.each([0, 1, 2, 3])('reads statements other than select, in slices of %d', async (fetchRows) => {
    const { rows } = await read(source(), { sql: 'show server_encoding', fetch_rows: fetchRows });
    expect(rows).toEqual([['UTF8']]);
    const plan = await read(source(), {
      sql: 'explain (costs off) select * from shop where id = 1',
      fetch_rows: fetchRows,
    });
    expect(plan.rows).toHaveLength(2);
    const none = await read(source(), { sql: 'values (1), (2)', fetch_rows: fetchRows });
    expect(none.rows).toEqual([['1'], ['2']]);
  });

  it('emits no batch much larger than a thousand rows', async () => {
    const { batches } = await extract(source(), 'select * from generate_series(1, 20000)');
    for await (const batch of batches) expect(batch.length).toBeLessThanOrEqual(1024);
  });

  it("returns an empty result's columns", async () => {
    expect(await read(source(), 'select id, name from shop where false')).toEqual({
      columns: ['id integer', 'name text'],
      rows: [],
    });
  });

  it('counts the rows of a result without columns', async () => {
    expect(await read(source(), 'select from generate_series(1, 3)')).toEqual({ columns: [], rows: [[], [], []] });
  });

  it('reads 1600 columns', async () => {
    const list = Array.from({ length: 1600 }, (_, i) => `g + ${i} as c${i}`).join(', ');
    const { columns, rows } = await read(source(), `select ${list} from generate_series(1, 100) g`);
    expect(columns).toHaveLength(1600);
    expect(rows[99]![1599]).toBe('1699');
  });

  it('reads a cell with a hundred megabytes', async () => {
    const { batches } = await extract(source(), "select repeat('x', 100000000) as a, 'behind' as b");
    const lengths: number[] = [];
    for await (const { cells } of batches) {
      for (const cell of cells)
        if (cell.kind === 'bytes') lengths.push(cell.spans[2 * cell.slot + 1]! - cell.spans[2 * cell.slot]!);
    }
    expect(lengths).toEqual([100_000_000, 6]);
  });

  it('binds parameters as values, no matter what they contain', async () => {
    const hostile = "'; drop table shop; --\\' \" $1 %s";
    const sql = 'select $1::text as a, $2::bigint as b, $3::boolean as c, $4::numeric as d, $5::text as e';
    const { rows } = await read(source(), { sql, parameters: [hostile, 9007199254740991, true, 1.5, null] });
    expect(rows).toEqual([[hostile, '9007199254740991', 'true', '1.5', null]]);
    expect((await read(source(), 'select count(*) from shop')).rows).toEqual([['1']]);
  });

  it('can compare a parameter without a cast', async () => {
    const { rows } = await read(source(), { sql: 'select name from shop where id = $1', parameters: [1] });
    expect(rows).toEqual([['a']]);
  });

  it.each([
    ['insert into shop values (2) returning id', 'DB_WRITE_REFUSED', 'SQLSTATE 25006'],
    ['with gone as (delete from shop returning id) select * from gone', 'DB_WRITE_REFUSED', 'SQLSTATE 25006'],
    ["select nextval('numbers')", 'DB_WRITE_REFUSED', 'SQLSTATE 25006'],
    ['selec 1', 'DB_QUERY_FAILED', 'SQLSTATE 42601 at character 1 of the query'],
    ['select 1; select 2', 'DB_QUERY_FAILED', 'SQLSTATE 42601'],
    ['select 1; drop table shop', 'DB_QUERY_FAILED', 'SQLSTATE 42601'],
    ['select * from nowhere', 'DB_QUERY_FAILED', 'SQLSTATE 42P01 at character 15 of the query'],
    ['select 1 / 0', 'DB_QUERY_FAILED', 'SQLSTATE 22012'],
    ['select $1::int', 'DB_QUERY_FAILED', 'SQLSTATE 08P01'],
    ['commit', 'DB_NO_RESULT', undefined],
    ['', 'DB_NO_RESULT', undefined],
    ['copy shop to stdout', 'DB_NO_RESULT', undefined],
  ])('fails the run for: %s', async (sql, code, seen) => {
    const problem = await problemOf(read(source(), sql));
    expect({ ...problem, seen: problem.seen }).toMatchObject({ code, family: 'job' });
    expect(problem.seen).toBe(seen);
    expect((await admin.query('select count(*)::int n from shop')).rows[0].n).toBe(1);
  });

  it.each([
    ['40001', 'try_later', 'DB_SERVER_BUSY'],
    ['40P01', 'try_later', 'DB_SERVER_BUSY'],
    ['53300', 'try_later', 'DB_SERVER_BUSY'],
    ['57P03', 'try_later', 'DB_SERVER_BUSY'],
    ['42501', 'job', 'DB_QUERY_FAILED'],
    ['57014', 'job', 'DB_STATEMENT_CANCELLED'],
  ])('maps SQLSTATE %s to %s', async (state, family, code) => {
    const problem = await problemOf(read(source(), { sql: 'select fail($1)', parameters: [state] }));
    expect(problem).toMatchObject({ family, code });
    expect(problem.message).toContain('as asked');
  });

  it('reports an error that follows thousands of rows instead of ending normally', async () => {
    const problem = await problemOf(read(source(), 'select 1 / (50000 - g) from generate_series(1, 100000) g'));
    expect(problem).toMatchObject({ code: 'DB_QUERY_FAILED', family: 'job' });
  });

  it('reports a login error for a wrong or missing password or an unknown user, and shows no password', async () => {
    const { host, port } = server();
    const address = { driver: 'postgres', host, port, database: 'postgres' };
    for (const who of [
      { user: 'alice', password: 'wrong-secret-word' },
      { user: 'alice' },
      { user: 'unknown', password: 'x' },
    ]) {
      const problem = await problemOf(check({ ...address, ...who }));
      expect(problem).toMatchObject({ code: 'DB_LOGIN_REFUSED', family: 'login' });
      expect(JSON.stringify([problem, problem.message, problem.cause])).not.toContain('wrong-secret-word');
    }
  });

  it('registers the password in a URL as a separate secret', async () => {
    await check({ url: `postgres://alice:alice%2Dsecret%2Dword@127.0.0.1:${server().port}/postgres` });
    expect(redact('the password is alice-secret-word')).not.toContain('alice-secret-word');
  });

  it('reports a config error for an unknown database', async () => {
    const problem = await problemOf(check({ url: server().url.replace(/postgres$/, 'nowhere') }));
    expect(problem).toMatchObject({ code: 'DB_NO_DATABASE', family: 'config' });
  });

  it.each([
    ['this user may not connect to', 'create database hidden; revoke connect on database hidden from public'],
    ['accepts no connections', 'create database closed allow_connections false'],
  ])("reports a config error for a database that %s, with the server's message", async (_, sql) => {
    const name = /database (\w+)/.exec(sql)![1]!;
    for (const statement of sql.split(';')) await admin.query(statement);
    const url = `postgres://alice:alice-secret-word@127.0.0.1:${server().port}/${name}`;
    const problem = await problemOf(check({ url }));
    expect(problem).toMatchObject({ code: 'DB_NO_DATABASE', family: 'config' });
    expect(problem.message).toContain(`"${name}"`);
  });

  it('ends a statement that exceeds its time limit, even on the server', async () => {
    const problem = await problemOf(read({ ...source(), statement_timeout_seconds: 0.2 }, 'select pg_sleep(60)'));
    expect(problem).toMatchObject({ code: 'DB_STATEMENT_CANCELLED', family: 'job' });
  });

  it('reports a try_later problem if an administrator ends its connection', async () => {
    const iterator = await firstOf(await extract(source(), many));
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice'");
    const rest = (async () => {
      while (!(await iterator.next()).done);
    })();
    expect(await problemOf(rest)).toMatchObject({ family: 'try_later' });
  });

  it('frees the server immediately if the consumer stops early', async () => {
    const { batches } = await extract(source(), many);
    for await (const batch of batches) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    await untilNobodyIsLeft();
  });

  it('cancels a statement that is still computing if the run is stopped, and throws the reason', async () => {
    const stop = new AbortController();
    const sql = 'select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b';
    const { batches } = await extract(source(), { sql, fetch_rows: 0 }, { signal: stop.signal });
    const reading = countRows(batches);
    const busy =
      "select count(*)::int n from pg_stat_activity where application_name = 'sluice' and query like '%generate_series%'";
    while ((await admin.query(busy)).rows[0].n === 0);
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await untilNobodyIsLeft();
  });

  it('cancels a statement that the server begins only after the run has ended', async () => {
    const stop = new AbortController();
    const sql = 'select count(*) from generate_series(1, 100000) a, generate_series(1, 100000) b';
    const { batches } = await extract(source(), { sql, fetch_rows: 0 }, { signal: stop.signal });
    const { pid } = (await admin.query("select pid from pg_stat_activity where application_name = 'sluice'")).rows[0];
    process.kill(pid, 'SIGSTOP');
    const reading = countRows(batches);
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    process.kill(pid, 'SIGCONT');
    await untilNobodyIsLeft();
  });

  it("doesn't start if the run was already stopped", async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(extract(source(), 'select 1', { signal })).rejects.toThrow('too late');
  });

  it('applies backpressure to the server if the consumer is slow', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const iterator = await firstOf(await extract(source(), { sql: many, fetch_rows: 0 }));
    const waits =
      "select wait_event from pg_stat_activity where application_name = 'sluice' and wait_event = 'ClientWrite'";
    for (let seen = 0; seen < 5; seen++) while ((await admin.query(waits)).rowCount === 0);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
    await iterator.return?.();
  });

  it("doesn't request another slice while the consumer is behind", async () => {
    const iterator = await firstOf(await extract(source(), { sql: many, fetch_rows: 500 }));
    const waits =
      "select wait_event from pg_stat_activity where application_name = 'sluice' and wait_event = 'ClientRead'";
    for (let seen = 0; seen < 5; seen++) while ((await admin.query(waits)).rowCount === 0);
    let rows = 0;
    for (let next = await iterator.next(); !next.done && rows < 100_000; next = await iterator.next())
      rows += next.value.length;
    expect(rows).toBeGreaterThanOrEqual(100_000);
    await iterator.return?.();
  });

  it('sees a single snapshot of the database, no matter how long it reads', async () => {
    const { batches } = await extract(source(), {
      sql: 'select count(*) from shop, (select pg_sleep(0)) s',
      fetch_rows: 1,
    });
    await admin.query("insert into shop values (99, 'later')");
    try {
      const rows: (string | null)[] = [];
      for await (const batch of batches)
        for (const cell of batch.cells)
          if (cell.kind === 'bytes') rows.push(cell.bytes.toString('utf8', cell.spans[0], cell.spans[1]));
      expect(rows).toEqual(['1']);
    } finally {
      await admin.query('delete from shop where id = 99');
    }
  });
});

describe("a PostgreSQL server that doesn't respond", () => {
  let silent: Server;
  let port: number;

  beforeAll(async () => {
    silent = createServer((socket) => void socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    port = (silent.address() as { port: number }).port;
  });

  afterAll(() => new Promise((resolve) => silent.close(resolve)));

  it('causes a connect timeout', async () => {
    const problem = await problemOf(check({ url: `postgres://a@127.0.0.1:${port}/b`, connect_timeout_seconds: 0.2 }));
    expect(problem).toMatchObject({ code: 'DB_CONNECT_TIMEOUT', family: 'try_later' });
  });

  it("doesn't delay the stop of a run", async () => {
    const stop = new AbortController();
    const waiting = extract({ url: `postgres://a@127.0.0.1:${port}/b` }, 'select 1', { signal: stop.signal });
    silent.once('connection', () => stop.abort(new Error('enough')));
    await expect(waiting).rejects.toThrow('enough');
  });
});

it('a refused connection to PostgreSQL is reported as a try_later problem', async () => {
  const problem = await problemOf(check({ url: 'postgres://a@127.0.0.1:1/b' }));
  expect(problem).toMatchObject({ code: 'DB_UNREACHABLE', family: 'try_later' });
});

describeWithServer(
  { servers: 'PostgreSQL', settings: { settings: { max_connections: 4, superuser_reserved_connections: 1 } } },
  'a PostgreSQL server with problems',
  (server) => {
    it('is retried later if it has no free connection', async () => {
      const held = Array.from({ length: 4 }, () => new pg.Client(server().url));
      for (const client of held) await client.connect();
      expect(await problemOf(check({ url: server().url }))).toMatchObject({
        code: 'DB_SERVER_BUSY',
        family: 'try_later',
      });
      for (const client of held) await client.end();
    });

    it('never makes a partial result look complete if it dies', async () => {
      const mortal = await startPostgres();
      try {
        const iterator = await firstOf(await extract({ url: mortal.url }, many));
        await mortal.kill();
        const rest = (async () => {
          while (!(await iterator.next()).done);
        })();
        expect(await problemOf(rest)).toMatchObject({ family: 'try_later' });
      } finally {
        await mortal.stop();
      }
    });
  },
);
