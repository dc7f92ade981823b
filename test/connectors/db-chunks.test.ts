import { createHash } from 'node:crypto';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunWarning } from '#sdk';
import { describeWithServer } from '../servers/describe.ts';
import { countRows, extract, type Options, problemOf, read } from './db-reader.ts';
import { type Cut, openTcpProxy } from './ftp-proxy.ts';

interface Place {
  readonly url: () => string;
  readonly port: () => number;
  run(sql: string): Promise<void>;
  /** Rows `i` from 1 to n with a value. */
  series(n: number): string;
  /** A type of bytes for keys, and an expression for the MD5 of `i` as bytes. */
  readonly bytes: { readonly type: string; readonly md5: string };
  /** The string of b, a quote and a backslash. */
  readonly awkward: string;
  /** A source with a user that may only read this table. */
  reader(table: string): Promise<Options>;
}

function itReadsInChunks({ url, port, run, series, bytes, awkward, reader }: Place): void {
  const chunks = (rows: number, column = 'i') => ({ column, rows });

  it.each([1, 3, 7, 10, 11, 1000])('returns every row once, in order, in chunks of %i', async (rows) => {
    const { rows: found, columns } = await read({ url: url() }, { sql: series(10), chunks: chunks(rows) });
    expect(found.map(([i]) => i)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
    expect(columns[0]).toBe('i integer');
  });

  it('returns nothing for an empty table', async () => {
    const { rows } = await read({ url: url() }, { sql: `${series(3)} where 1 = 0`, chunks: chunks(10) });
    expect(rows).toEqual([]);
  });

  it('includes rows inserted between two chunks, and accepts a string column as the key', async () => {
    await run('create table keyed (k varchar(10) primary key)');
    await run("insert into keyed values ('a'), ('b'), ('c')");
    const { batches } = await extract({ url: url() }, { sql: 'select k from keyed', chunks: chunks(2, 'k') });
    let rows = 0;
    for await (const batch of batches) {
      if (rows === 0) await run("insert into keyed values ('d')");
      rows += batch.length;
    }
    expect(rows).toBe(4);
  });

  it.each([1, 7, 256, 1000])('accepts bytes as the key, in chunks of %i', async (rows) => {
    await run(`create table hashed (i int, k ${bytes.type} primary key)`);
    try {
      await run(`insert into hashed select i, ${bytes.md5} from (${series(256)}) s`);
      const { rows: found } = await read({ url: url() }, { sql: 'select k from hashed', chunks: chunks(rows, 'k') });
      const hashes = Array.from({ length: 256 }, (_, i) =>
        createHash('md5')
          .update(String(i + 1))
          .digest(),
      );
      expect(found.map(([k]) => k)).toEqual(hashes.sort(Buffer.compare).map((hash) => hash.toString('base64')));
    } finally {
      await run('drop table hashed');
    }
  });

  describe('by several columns', () => {
    const key = ['shop', 'word', 'line'];
    const pairs = (n: number) => Array.from({ length: n }, (_, i) => [`${i % 3}`, i % 2 === 0 ? 'a' : "b'\\", `${i}`]);
    const isLess = ([shop, word, line]: string[], [otherShop, otherWord, otherLine]: string[]) =>
      shop! < otherShop! ||
      (shop === otherShop && (word! < otherWord! || (word === otherWord && Number(line) < Number(otherLine))));
    const sorted = (all: string[][]) => all.sort((a, b) => (isLess(a, b) ? -1 : 1));

    beforeAll(async () => {
      await run(
        'create table several (line bigint, amount int, shop int, word varchar(9), primary key (shop, word, line))',
      );
      const values = pairs(60).map(([shop, word, line]) => `(${line}, 1, ${shop}, ${word === 'a' ? "'a'" : awkward})`);
      await run(`insert into several values ${values.join(', ')}`);
    });

    it.each([1, 2, 7, 20, 59, 60, 61])('returns every row once, in order, in chunks of %i', async (rows) => {
      const query = { sql: 'select shop, word, line from several', chunks: { column: key, rows } };
      expect((await read({ url: url() }, query)).rows).toEqual(sorted(pairs(60)));
    });

    it("uses the primary key of the table if no column is set, in the key's order", async () => {
      const { rows } = await read(
        { url: url() },
        { table: 'several', columns: ['shop', 'word', 'line'], chunks: { rows: 7 } },
      );
      expect(rows).toEqual(sorted(pairs(60)));
    });

    it('fails if the table has no primary key, or if its columns are not read', async () => {
      await run('create view viewed as select * from several');
      const problem = await problemOf(read({ url: url() }, { table: 'viewed', chunks: { rows: 7 } }));
      expect(problem).toMatchObject({ code: 'DB_NO_KEY', family: 'config' });
      const without = { table: 'several', columns: ['shop', 'amount'], chunks: { rows: 7 } };
      expect(await problemOf(read({ url: url() }, without))).toMatchObject({
        code: 'DB_NO_KEY',
        next: 'add "word", "line" to columns',
      });
    });

    it('reads only the rows between from and to', async () => {
      const query = { table: 'several', columns: ['shop', 'word', 'line'] };
      const within = async (chunks: object) => (await read({ url: url() }, { ...query, chunks })).rows;
      const all = sorted(pairs(60));
      expect(await within({ rows: 7, from: 1 })).toEqual(all.filter(([shop]) => shop !== '0'));
      expect(await within({ rows: 7, from: 1, to: '2' })).toEqual(all.filter(([shop]) => shop === '1'));
      expect(await within({ rows: 7, to: 1 })).toEqual(all.filter(([shop]) => shop === '0'));
      expect(await within({ rows: 7, from: 3 })).toEqual([]);
    });

    it('fails if from is not a value of the column', async () => {
      const query = { table: 'several', chunks: { rows: 7, from: '2026-01-31' } };
      expect(await problemOf(read({ url: url() }, query))).toMatchObject({
        code: 'CURSOR_RANGE',
        family: 'config',
        seen: '2026-01-31',
        next: 'fix from and to in chunks',
      });
    });

    it('rejects rows in which one of the columns is null, and rows that are not unique', async () => {
      const nulls = {
        sql: 'select shop, nullif(line, 5) as line from several',
        chunks: { column: ['shop', 'line'], rows: 9 },
      };
      expect(await problemOf(read({ url: url() }, nulls))).toMatchObject({ code: 'DB_NULL_IN_ORDER' });
      const query = { sql: 'select shop, word from several', chunks: { column: ['shop', 'word'], rows: 9 } };
      expect(await problemOf(read({ url: url() }, query))).toMatchObject({ code: 'DB_CHUNK_NOT_UNIQUE', seen: '0, a' });
    });

    it('shows the key to a user that may only read the table', async () => {
      const source = await reader('several');
      expect((await read(source, { table: 'several', chunks: { rows: 7 } })).rows).toHaveLength(60);
    });
  });

  /** The rows that are read if a table has five, chunks have two, and this statement runs after the first chunk. */
  async function changed(sql: string) {
    await run('create table shrinking (i int primary key)');
    try {
      await run('insert into shrinking values (1), (2), (3), (4), (5)');
      const warnings: RunWarning[] = [];
      const onWarning = (warning: RunWarning) => warnings.push(warning);
      const query = { sql: 'select * from shrinking', chunks: chunks(2) };
      const { batches } = await extract({ url: url() }, query, { onWarning });
      let rows = 0;
      for await (const batch of batches) {
        if (rows === 0) await run(sql);
        rows += batch.length;
      }
      return { rows, warnings };
    } finally {
      await run('drop table shrinking');
    }
  }

  it('ends if no rows are left for the next chunk, for example in a truncated table', async () => {
    for (const sql of ['delete from shrinking', 'delete from shrinking where i > 1']) {
      expect(await problemOf(changed(sql))).toMatchObject({ code: 'DB_ROWS_GONE', family: 'try_later', seen: '2' });
    }
  });

  it("warns that rows may be missing if a chunk's first row was deleted", async () => {
    const { rows, warnings } = await changed('delete from shrinking where i = 2');
    expect(rows).toBe(5);
    expect(warnings).toMatchObject([{ code: 'DB_ROW_GONE', seen: 'i: 2', incomplete: true }]);
  });

  it.each([
    ['the first chunk', [{ afterBytes: 1_000_000, how: 'reset' }]],
    [
      'its second chunk, twice',
      [
        { afterBytes: 1e9, how: 'reset' },
        { afterBytes: 1e9, how: 'reset' },
        { afterBytes: 400_000, how: 'reset' },
        { afterBytes: 700_000, how: 'reset' },
      ],
    ],
    [
      'a login',
      [
        { afterBytes: 1e9, how: 'reset' },
        { afterBytes: 1e9, how: 'reset' },
        { afterBytes: 20, how: 'reset' },
      ],
    ],
  ] as [string, Cut[]][])('continues after the last row if the connection breaks during %s', async (_title, cuts) => {
    const proxy = await openTcpProxy(port(), [...cuts]);
    try {
      const source = { url: url().replace(/:\d+\//, `:${proxy.port}/`) };
      const { batches } = await extract(source, { sql: series(30_000), chunks: chunks(20_000) });
      const seen: number[] = [];
      for await (const batch of batches) {
        const cells = batch.cells[0]!;
        if (cells.kind !== 'bytes') throw new Error('cells of a database are bytes');
        for (let r = 0; r < batch.length; r++) {
          const at = 2 * ((batch.rows?.[r] ?? r) * cells.stride + cells.slot);
          seen.push(Number(cells.bytes.toString('latin1', cells.spans[at], cells.spans[at + 1])));
        }
      }
      expect(seen).toHaveLength(30_000);
      expect(seen.every((i, at) => i === at + 1)).toBe(true);
      expect(proxy.carried()).toBeGreaterThan(cuts.length);
    } finally {
      await proxy.close();
    }
  });

  it('stops immediately if the run is aborted between two attempts', async () => {
    const proxy = await openTcpProxy(port(), [
      { afterBytes: 1e9, how: 'reset' },
      { afterBytes: 500_000, how: 'reset' },
    ]);
    const stop = new AbortController();
    const source = { url: url().replace(/:\d+\//, `:${proxy.port}/`) };
    // The warning is emitted after the connection breaks and before the next attempt.
    const warn = () => void setImmediate(() => stop.abort(new Error('stopped')));
    const setting = { signal: stop.signal, warn };
    const { batches } = await extract(source, { sql: series(30_000), chunks: chunks(20_000) }, setting);
    await proxy.close();
    await expect(countRows(batches)).rejects.toThrow('stopped');
  });

  it("rejects a column that isn't unique, no matter which chunk reveals that", async () => {
    // Don't use a sequence table: if it's sorted by an expression, MariaDB 11.8 loses its first row.
    const ten = [1, 2, 3, 4, 4, 6, 7, 8, 9, 10].map((i) => `select ${i} as i`).join(' union all ');
    const sql = `select i from (${ten}) s`;
    for (const rows of [1, 2, 3, 4, 5, 100]) {
      const problem = await problemOf(read({ url: url() }, { sql, chunks: chunks(rows) }));
      expect(problem).toMatchObject({ code: 'DB_CHUNK_NOT_UNIQUE', family: 'job', seen: '4' });
    }
  });

  it('rejects an unknown column, a column with nulls and a column without an order', async () => {
    const nulls = `select case when i = 5 then null else i end as i from (${series(10)}) s`;
    const problem = await problemOf(read({ url: url() }, { sql: nulls, chunks: chunks(100) }));
    expect(problem).toMatchObject({ code: 'DB_NULL_IN_ORDER', family: 'job' });
    await expect(read({ url: url() }, { sql: series(3), chunks: chunks(2, 'nope') })).rejects.toThrow('nope');
    const floats = `select i + sqrt(2) as i from (${series(3)}) s`;
    expect(await problemOf(read({ url: url() }, { sql: floats, chunks: chunks(2) }))).toMatchObject({
      code: 'DB_CHUNK_TYPE',
    });
  });
}

describeWithServer({ servers: 'PostgreSQL' }, 'reading PostgreSQL in chunks', (server) => {
  let admin: pg.Client;
  beforeAll(async () => {
    admin = new pg.Client(server().url);
    await admin.connect();
  });
  afterAll(() => admin.end());
  itReadsInChunks({
    url: () => server().url,
    port: () => server().port,
    run: async (sql) => void (await admin.query(sql)),
    series: (n) => `select i, repeat('x', 100) as fill from generate_series(1, ${n}) i`,
    bytes: { type: 'bytea', md5: "decode(md5(i::text), 'hex')" },
    awkward: "'b''\\'",
    async reader(table) {
      await admin.query("create role looker login password 'looker-secret-word'");
      await admin.query(`grant select on ${table} to looker`);
      const { host, port } = server();
      return { driver: 'postgres', host, port, database: 'postgres', user: 'looker', password: 'looker-secret-word' };
    },
  });

  it('gives up if the server stops responding', async () => {
    const proxy = await openTcpProxy(server().port, [
      { afterBytes: 1e9, how: 'reset' },
      { afterBytes: 500_000, how: 'reset' },
    ]);
    const source = { url: server().url.replace(/:\d+\//, `:${proxy.port}/`) };
    const { batches } = await extract(source, {
      sql: "select i, repeat('x', 100) as fill from generate_series(1, 30000) i",
      chunks: { column: 'i', rows: 20_000 },
    });
    await proxy.close();
    expect(await problemOf(countRows(batches))).toMatchObject({ family: 'try_later' });
  });

  it('leaves no connection open', async () => {
    const count = "select count(*)::int as n from pg_stat_activity where application_name = 'sluice'";
    await expect.poll(async () => (await admin.query(count)).rows[0].n).toBe(0);
  });
});

describeWithServer({ servers: 'MariaDB' }, 'reading MariaDB in chunks', (server) => {
  let admin: mysql.Connection;
  beforeAll(async () => {
    admin = await mysql.createConnection(server().url);
  });
  afterAll(() => admin.end());
  itReadsInChunks({
    url: () => server().url,
    port: () => server().port,
    run: async (sql) => void (await admin.query(sql)),
    series: (n) => `select i, fill from (select seq as i, repeat('x', 100) as fill from seq_1_to_${n}) one`,
    bytes: { type: 'binary(16)', md5: 'unhex(md5(i))' },
    awkward: "'b''\\\\'",
    async reader(table) {
      await admin.query("create user looker identified by 'looker-secret-word'");
      await admin.query(`grant select on ${table} to looker`);
      return { url: server().url.replace(/\/\/[^@]*@/, '//looker:looker-secret-word@') };
    },
  });

  it('leaves no connection open', async () => {
    const others = 'select count(*) as n from information_schema.processlist where id <> connection_id() and user = ?';
    const count = async () => Number(((await admin.query(others, ['sluice']))[0] as { n: number }[])[0]!.n);
    await expect.poll(count).toBe(0);
  });
});
