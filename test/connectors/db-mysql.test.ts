import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import mysql, { type Connection } from 'mysql2';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { batchText } from '#sdk';
import { MysqlSession } from '../../connectors/db/mysql-session.ts';
import { describeWithServer } from '../servers/describe.ts';
import { freePort } from '../servers/free-port.ts';
import { startMariadb } from '../servers/mariadb.ts';
import { check, connectOptions, countRows, extract, firstOf, problemOf, read } from './db-reader.ts';

const many = "select seq, repeat('x', 1000) as fill from seq_1_to_2000000";
const sums = 'select sum(a.seq * b.seq) as endless from seq_1_to_1000000 a, seq_1_to_1000000 b';

describeWithServer({ servers: 'MariaDB' }, 'the MariaDB reader', (server) => {
  let admin: Connection;
  const source = () => ({ url: server().url });
  const ask = (sql: string) =>
    new Promise<Record<string, unknown>[]>((resolve, reject) => {
      admin.query(sql, (failure, rows) => (failure ? reject(failure) : resolve(rows as Record<string, unknown>[])));
    });

  beforeAll(async () => {
    admin = mysql.createConnection(server().url);
    await ask('create table shop (id int, name varchar(20) character set latin1 collate latin1_german2_ci)');
    await ask("insert into shop values (1, 'a'), (2, 'Müller')");
    await ask('create procedure two() begin select 1 as a; select 2 as b; end');
    await ask(
      'create procedure writing() begin commit; set session transaction read write; insert into shop values (3, 3); select 1; end',
    );
  });

  afterAll(() => admin.destroy());

  /** Waits until the server has no connections except the one that this check uses. */
  async function untilNobodyIsLeft(): Promise<void> {
    const others =
      "select count(*) as n from information_schema.processlist where user = 'sluice' and id <> connection_id()";
    await expect.poll(async () => Number((await ask(others))[0]!.n)).toBe(0);
  }

  afterEach(untilNobodyIsLeft);

  it("returns the server's version from check()", async () => {
    expect(await check(source())).toMatch(
      /^MariaDB 1\d\.\d+\.\d+ as sluice on test; this account has write privileges: ALL PRIVILEGES$/,
    );
    expect(await check({ url: server().url.replace('mysql:', 'mariadb:') })).toMatch(/^MariaDB/);
  });

  it('skips a host that is down', async () => {
    const up = `127.0.0.1:${server().port}`;
    const hosts = `127.0.0.1:${await freePort()},${up}`;
    expect(await check({ url: server().url.replace(up, hosts) })).toContain(` at ${up}`);
  });

  it('also connects through a Unix socket', async () => {
    const { folder, user, password } = server();
    const local = { driver: 'mariadb', host: `${folder}/socket`, user, password, database: 'test' };
    expect(await check(local)).toMatch(/ as sluice on test;/);
    for await (const batch of (await extract(local, many)).batches) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
  });

  it('reads every row once, in order', async () => {
    const { rows } = await read(source(), 'select seq from seq_1_to_50000');
    expect(rows).toEqual(Array.from({ length: 50_000 }, (_, i) => [String(i + 1)]));
  });

  it("returns an empty result's columns", async () => {
    expect(await read(source(), 'select id, name from shop where false')).toEqual({
      columns: ['id integer', 'name text'],
      rows: [],
    });
  });

  for (const mode of ['', 'NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES', 'ORACLE', 'STRICT_ALL_TABLES']) {
    it(`binds parameters as values, no matter what they contain, with sql_mode '${mode}'`, async () => {
      await ask(`set global sql_mode = '${mode}'`);
      const hostile = "'; drop table shop; -- \\' \" ` ? 漢😀";
      const sql = 'select ? as a, ? as b, ? as c, ? as d, ? as e, ? as f';
      const { rows } = await read(source(), { sql, parameters: [hostile, 9007199254740991, true, 1.5, null, ''] });
      await ask('set global sql_mode = default');
      expect(rows[0]!.slice(0, 5)).toEqual([hostile, '9007199254740991', '1', '1.5', null]);
      expect((await read(source(), 'select count(*) from shop')).rows).toEqual([['2']]);
    });
  }

  it("finds placeholders after a backslash that isn't an escape", async () => {
    await ask("set global sql_mode = 'NO_BACKSLASH_ESCAPES'");
    const sql = "select '\\' as s, ? as v, '?' as w";
    const { rows } = await read(source(), { sql, parameters: [5] });
    await ask('set global sql_mode = default');
    expect(rows).toEqual([['\\', '5', '?']]);
  });

  it('never guesses which question mark is a placeholder', async () => {
    const problem = await problemOf(read(source(), { sql: 'select ? as v /*!999999 ? */', parameters: [5] }));
    expect(problem).toMatchObject({ code: 'DB_QUERY_FAILED', family: 'job' });
    expect(problem.message).toContain('ambiguous placeholders');
  });

  it('can compare a parameter with a column in another character set', async () => {
    const query = { sql: 'select id from shop where name = ?', parameters: ['Müller'] };
    expect((await read(source(), query)).rows).toEqual([['2']]);
  });

  it.each([
    ['insert into shop values (3, 3)', 'DB_WRITE_REFUSED'],
    ['insert into shop values (3, 3) returning id', 'DB_WRITE_REFUSED'],
    ['create table other (id int)', 'DB_WRITE_REFUSED'],
    ['drop table shop', 'DB_WRITE_REFUSED'],
    ['select selec', 'DB_QUERY_FAILED'],
    ['select 1; select 2', 'DB_QUERY_FAILED'],
    ['select * from nowhere', 'DB_QUERY_FAILED'],
    ['commit', 'DB_WRITE_REFUSED'],
    ['call two()', 'DB_WRITE_REFUSED'],
    [
      'begin not atomic set session transaction read write; commit; start transaction read write; insert into shop values (3, 3); select 1; end',
      'DB_WRITE_REFUSED',
    ],
    ['/*!999999 select */ call writing()', 'DB_WRITE_REFUSED'],
    ['call writing()', 'DB_WRITE_REFUSED'],
    ['x: begin not atomic select 1; end', 'DB_WRITE_REFUSED'],
    ['analyze table shop', 'DB_WRITE_REFUSED'],
    ['flush tables', 'DB_WRITE_REFUSED'],
    ["(select 1 /* */ into /*!50000 outfile */ '/nowhere/sluice')", 'DB_WRITE_REFUSED'],
    ["select 1 into dumpfile '/nowhere/sluice'", 'DB_WRITE_REFUSED'],
    ["load data local infile '/etc/passwd' into table shop", 'DB_'],
  ])('fails the run for: %s', async (sql, code) => {
    const problem = await problemOf(read(source(), sql));
    expect(problem.family).toBe('job');
    expect(problem.code).toContain(code);
    expect(await ask('select count(*) as n from shop')).toEqual([{ n: 2 }]);
  });

  it.each([
    "select 'call x into outfile' as a",
    '/* call */ (select 1 as a) -- into outfile',
    'with x as (select 1 as a) select a from x',
  ])('accepts statements that only look like writes: %s', async (sql) =>
    expect((await read(source(), sql)).rows).toHaveLength(1),
  );

  it('emits no warning if the account is read-only', async () => {
    await ask("create or replace user reader@'%' identified by 'reader'");
    await ask("grant select, show view on test.* to reader@'%'");
    const url = new URL(server().url);
    [url.username, url.password] = ['reader', 'reader'];
    expect(await check({ url: url.href })).toMatch(/ as reader on test$/);
    await ask("drop user reader@'%'");
  });

  it('reports missing parameters', async () => {
    const problem = await problemOf(read(source(), { sql: 'select ?, ?', parameters: [1] }));
    expect(problem).toMatchObject({ code: 'DB_QUERY_FAILED', family: 'job' });
    expect(problem.next).toContain('parameter');
  });

  it.each([
    [1045, 'login'],
    [1040, 'try_later'],
    [1213, 'try_later'],
    [1205, 'try_later'],
    [1142, 'job'],
  ])('maps error %d to %s', async (number, family) => {
    const signal = `signal sqlstate '45000' set mysql_errno = ${number}, message_text = 'as asked'`;
    await ask(`create or replace function failing() returns int begin ${signal}; return 1; end`);
    const problem = await problemOf(read(source(), 'select failing()'));
    expect(problem.family).toBe(family);
    expect(problem.message).toContain('as asked');
  });

  it('reports a login error for a wrong password, and a config error for an unknown database', async () => {
    const wrong = await problemOf(check({ url: server().url.replace('maria-test-password', 'wrong-password') }));
    expect(wrong).toMatchObject({ code: 'DB_LOGIN_REFUSED', family: 'login' });
    expect(await problemOf(check({ url: `${server().url}nowhere` }))).toMatchObject({
      code: 'DB_NO_DATABASE',
      family: 'config',
    });
  });

  it('reports a config error, not a login error, for a database that the user may not access', async () => {
    await ask("create or replace user guest@'127.0.0.1' identified by 'guest-secret-word'");
    await ask('create database hidden');
    const url = `mysql://guest:guest-secret-word@127.0.0.1:${server().port}`;
    expect(await problemOf(check({ url: `${url}/hidden` }))).toMatchObject({
      code: 'DB_NO_DATABASE',
      family: 'config',
    });
    expect(await check({ url: `${url}/information_schema` })).toContain('as guest');
  });

  it('ends a statement that exceeds its time limit, even on the server', async () => {
    const problem = await problemOf(read({ ...source(), statement_timeout_seconds: 0.2 }, sums));
    expect(problem).toMatchObject({ code: 'DB_STATEMENT_CANCELLED', family: 'job' });
  });

  it('frees the server immediately if the consumer stops early', async () => {
    for await (const batch of (await extract(source(), many)).batches) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    await untilNobodyIsLeft();
  });

  it('cancels a statement that is still computing if the run is stopped, and throws the reason', async () => {
    const stop = new AbortController();
    const reading = extract(source(), sums, { signal: stop.signal });
    const busy =
      "select count(*) as n from information_schema.processlist where info like '%endless%' and id <> connection_id()";
    const expected = expect(reading).rejects.toThrow('enough');
    while (Number((await ask(busy))[0]!.n) === 0);
    stop.abort(new Error('enough'));
    await expected;
    await untilNobodyIsLeft();
  });

  it('cancels a statement even if the server responds only after the run has ended', async () => {
    const stop = new AbortController();
    const reading = extract(source(), sums, { signal: stop.signal });
    const busy =
      "select count(*) as n from information_schema.processlist where info like '%endless%' and id <> connection_id()";
    const expected = expect(reading).rejects.toThrow('enough');
    await expect.poll(async () => Number((await ask(busy))[0]!.n)).toBe(1);
    const pid = Number(await readFile(join(server().folder, 'pid'), 'utf8'));
    process.kill(pid, 'SIGSTOP');
    stop.abort(new Error('enough'));
    await expected;
    process.kill(pid, 'SIGCONT');
    await untilNobodyIsLeft();
  });

  it('stops in the middle of a result if the run is stopped', async () => {
    const stop = new AbortController();
    const iterator = await firstOf(await extract(source(), many, { signal: stop.signal }));
    stop.abort(new Error('enough'));
    await expect(iterator.next()).rejects.toThrow('enough');
    await untilNobodyIsLeft();
  });

  it('applies backpressure to the server if the consumer is slow', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const iterator = await firstOf(await extract(source(), many));
    const writing =
      "select state from information_schema.processlist where info like '%fill%' and state like 'Writing%'";
    for (let seen = 0; seen < 5; seen++) while ((await ask(`${writing} and id <> connection_id()`)).length === 0);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
    await iterator.return?.();
  });

  it('reports why a result ended early, and at which row', async () => {
    const sql = `select seq, repeat('x', 100) as fill, if(seq = 20000, (select seq from seq_1_to_2), 1) as one from seq_1_to_30000`;
    const problem = await problemOf(read(source(), sql));
    expect(problem).toMatchObject({ code: 'DB_QUERY_FAILED', family: 'job', seen: 'error 1242, SQLSTATE 21000' });
    expect(problem.where.row).toBeGreaterThan(10_000);
  });

  it.each([
    ['query', { code: 'DB_STATEMENT_CANCELLED', family: 'job' }],
    ['connection', { family: 'try_later' }],
  ])('reports a lost connection if the %s is killed while rows are read', async (what, problem) => {
    const iterator = await firstOf(await extract(source(), many));
    const found = await ask(
      "select id from information_schema.processlist where info like '%fill%from seq_1_to_2000000'",
    );
    await ask(`kill ${what} ${found[0]!.id}`);
    expect(await problemOf(countRows({ [Symbol.asyncIterator]: () => iterator }))).toMatchObject(problem);
  });

  it('reads rows of many megabytes among small rows', async () => {
    await ask('set global max_allowed_packet = 64 * 1024 * 1024');
    const sql =
      "select seq, if(seq % 500 = 0, repeat('xü', 8000000), 'small') as fill, null as none from seq_1_to_1000";
    const { batches } = await extract(source(), sql);
    const lengths = new Map<number, number>();
    for await (const batch of batches) {
      for (const [, fill] of batchText(batch)) lengths.set(fill!.length, (lengths.get(fill!.length) ?? 0) + 1);
    }
    await ask('set global max_allowed_packet = default');
    expect([...lengths]).toEqual([
      [5, 998],
      [16_000_000, 2],
    ]);
  });

  it('leaves a connection usable after a complete result', async () => {
    const door = connectOptions(source());
    const { signal } = door;
    const session = await MysqlSession.open(door);
    await session.begin(door);
    for (const rows of [0, 3, 3000]) {
      const sql = `select seq from seq_1_to_3000 where seq <= ${rows}`;
      const { batches } = await session.read(
        { sql },
        { signal, zeroDates: 'refuse', onWarnings: () => {}, leave: async () => {} },
      );
      expect(await countRows(batches)).toBe(rows);
      expect(await session.row("select 'still here'", signal)).toEqual(['still here']);
    }
    await session.close();
  });

  it('never makes a partial result look complete if the server dies', async () => {
    const mortal = await startMariadb();
    try {
      const extraction = await extract({ url: mortal.url }, many);
      const iterator = await firstOf(extraction);
      await mortal.kill();
      const problem = await problemOf(countRows({ [Symbol.asyncIterator]: () => iterator }));
      expect(problem).toMatchObject({ family: 'try_later' });
    } finally {
      await mortal.stop();
    }
  });
});

it('a refused connection to MariaDB is reported as a try_later problem', async () => {
  const problem = await problemOf(check({ url: 'mysql://a@127.0.0.1:1/b' }));
  expect(problem).toMatchObject({ code: 'DB_UNREACHABLE', family: 'try_later' });
});
