import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunWarning } from '#sdk';
import { check, extract, type Options, problemOf, read } from '../connectors/db-reader.ts';
import { startBuenavista } from '../servers/buenavista.ts';
import { reportMissing } from '../servers/describe.ts';
import { hasH2, startH2 } from '../servers/h2.ts';
import { hasVenv } from '../servers/python-venv.ts';
import type { TestServer } from '../servers/server.ts';

/** Databases that speak PostgreSQL's protocol, but know only some of its statements. */
const servers = [
  {
    title: 'H2 in PostgreSQL mode',
    isInstalled: hasH2,
    packages: 'maven default-jre-headless',
    start: startH2,
    source: { transaction: 'none' },
    lacks: [/one moment/, /does not reject writes/],
    numbers: 'select cast("X" as integer) as n from system_range(1, 120000)',
  },
  {
    title: 'DuckDB behind Buena Vista',
    isInstalled: hasVenv,
    packages: 'python3-venv',
    start: startBuenavista,
    source: { transaction: 'none' },
    lacks: [/one moment/, /does not reject writes/],
    numbers: 'select range + 1 as n from range(120000)',
  },
];

for (const { title, isInstalled, packages, start, source: options, lacks, numbers } of servers) {
  if (!isInstalled()) {
    reportMissing(title, [title], packages);
    continue;
  }
  describe(title, () => {
    let server: TestServer;
    let source: Options;
    beforeAll(async () => {
      server = await start();
      source = { url: server.url, ...options };
      const admin = new pg.Client(server.url);
      admin.on('error', () => {});
      await admin.connect();
      await admin.query('create table orders (id integer, name varchar, amount decimal(10, 2), due date)');
      await admin.query("insert into orders values (1, 'é漢😀', 1.50, '2024-02-29'), (2, null, -0.01, null)");
      await admin.end();
    }, 600_000);
    afterAll(() => server?.stop());

    it('passes the check, which says what its transactions lack', async () => {
      const text = await check(source);
      expect(text).toMatch(/^PostgreSQL /);
      for (const lack of lacks) expect(text).toMatch(lack);
    });

    it('returns its rows exactly, and the run gets a warning', async () => {
      const warnings: RunWarning[] = [];
      const sql = 'select id, name, amount, due from orders order by id';
      const { rows, columns } = await read(source, sql, { onWarning: (warning) => warnings.push(warning) });
      expect(columns).toEqual(['id integer', 'name text', 'amount decimal', 'due date']);
      expect(rows).toEqual([
        ['1', 'é漢😀', '1.50', '2024-02-29'],
        ['2', null, '-0.01', null],
      ]);
      expect(warnings).toEqual([expect.objectContaining({ code: 'DB_WEAK_TRANSACTION' })]);
      for (const lack of lacks) expect(warnings[0]!.message).toMatch(lack);
    });

    it('returns each of many rows once, in order, whatever fetch_rows is', async () => {
      const { rows } = await read(source, { sql: numbers, fetch_rows: 1000 });
      expect(rows).toHaveLength(120_000);
      expect(rows.every(([n], i) => n === String(i + 1))).toBe(true);
    });

    it('names an error in the query', async () => {
      expect(await problemOf(read(source, 'select nothing from orders'))).toMatchObject({
        code: 'DB_QUERY_FAILED',
        family: 'job',
        message: expect.stringMatching(/nothing/i),
      });
    });

    it('is not asked for all keys, because a list that is not from one moment may lack some', async () => {
      const query = { sql: 'select id from orders', cursor: 'id' };
      expect(await problemOf(extract(source, query, { comparedKey: ['id'] }))).toMatchObject({
        code: 'DB_NO_SNAPSHOT',
        family: 'config',
      });
    });

    it('is not read unless the config says that writes are not rejected', async () => {
      const strict = { ...source, transaction: 'read_only' };
      for (const act of [() => check(strict), () => read(strict, 'select 1 as a')]) {
        expect(await problemOf(act())).toMatchObject({
          code: 'DB_NO_TRANSACTION',
          family: 'config',
          next: expect.stringContaining('`transaction: none`'),
        });
      }
    });
  });
}
