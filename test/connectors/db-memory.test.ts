import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, it } from 'vitest';
import { withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';
import { PostgresSession } from '../../connectors/db/postgres-session.ts';
import { describeWithServer } from '../servers/describe.ts';
import { connectOptions, countRows, problemOf } from './db-reader.ts';

const run = promisify(execFile);
const child = join(import.meta.dirname, 'db-memory-child.ts');

async function peakOf(url: string, sql: string): Promise<{ rows: number; peak: number }> {
  const { stdout } = await run(process.execPath, ['--max-old-space-size=32', child, url, sql]);
  return JSON.parse(stdout) as { rows: number; peak: number };
}

describeWithServer({ servers: ['PostgreSQL', 'MariaDB'] }, 'a database extract', (server) => {
  it.each([
    ['PostgreSQL', (n: number) => `select g, md5(g::text) as a, now() as b, true as c from generate_series(1, ${n}) g`],
    ['MariaDB', (n: number) => `select seq, md5(seq) as a, current_timestamp() as b, true as c from seq_1_to_${n}`],
  ] as const)('needs no more memory for more rows in %s', async (kind, sql) => {
    const { url } = server(kind);
    const few = await peakOf(url, sql(200_000));
    const many = await peakOf(url, sql(2_000_000));
    expect([few.rows, many.rows]).toEqual([200_000, 2_000_000]);
    expect(many.peak).toBeLessThan(200);
    expect(many.peak).toBeLessThan(1.5 * few.peak);
  });

  it('keeps a PostgreSQL connection usable after an error in the rows and after a complete result', async () => {
    const door = connectOptions({ url: server('PostgreSQL').url });
    const { signal } = door;
    const session = await PostgresSession.open(door);
    const count = async (sql: string, fetch_rows: number) => {
      await session.begin(door);
      const wire = await session.describe(sql);
      const { batches } = session.read(
        wire,
        { ...withDefaults(db.query, { fetch_rows }), sql },
        {
          signal,
          onWarnings: () => {},
          leave: async () => {},
        },
      );
      return countRows(batches).finally(() => session.row('rollback'));
    };
    for (const slice of [0, 100]) {
      expect(await count('select * from generate_series(1, 3000)', slice)).toBe(3000);
      const failing = count('select 1 / (2000 - g) from generate_series(1, 3000) g', slice);
      expect(await problemOf(failing)).toMatchObject({ code: 'DB_QUERY_FAILED', seen: 'SQLSTATE 22012' });
      expect(await session.row("select 'still here'")).toEqual(['still here']);
    }
    await session.close();
    const client = new pg.Client(server('PostgreSQL').url);
    await client.connect();
    const left = "select count(*)::int as n from pg_stat_activity where application_name = 'sluice'";
    while ((await client.query(left)).rows[0].n > 0);
    await client.end();
  });
});
