import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { describeWithServer } from '../servers/describe.ts';
import { adminKey, makeWorld } from './world.ts';

interface Connection {
  readonly kind: string;
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

const sql = "select 1 as id, 'a' as name";

/**
 * Jobs with one source, each of which has an option that names a column, and what `check --connect` prints about them.
 */
async function checkJobs(source: object, jobs: Readonly<Record<string, object>>) {
  const world = await makeWorld();
  const home = await world.home();
  const database = new SqliteDatabase(join(home.folder, 'shop.db'));
  database.exec("create table orders (id integer primary key, name text); insert into orders values (1, 'a')");
  database.close();
  const targets = [world.instances.csv, world.instances.json, world.instances.xml];
  const all = Object.entries(jobs).map(([name, job], n) => {
    const target = { instance: targets[n] ?? n.toString(16).padStart(32, '0') };
    return [name, { source: 'shop', query: sql, format: 'csv', target, ...job }];
  });
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { shop: { connector: 'db', ...source } },
    jobs: Object.fromEntries(all),
  });
  const { code, stdout, stderr } = await home.sluice(['check', '--connect', '--json']);
  expect(stderr).toBe('');
  const { connections } = JSON.parse(stdout) as { connections: Connection[] };
  const said = Object.fromEntries(
    connections.filter(({ kind }) => kind === 'job').map(({ name, message }) => [name, message]),
  );
  return { code, said, uploads: await world.uploads() };
}

const fine = 'its query returns 2 columns';

it("check --connect reports columns that a job uses but its query doesn't return, without reading rows", async () => {
  const query = { sql: 'select id, name from orders' };
  const { code, said, uploads } = await checkJobs(
    { driver: 'sqlite', file: 'shop.db' },
    {
      right: { query, transforms: [{ select: ['id'] }], guards: { columns: ['id'] } },
      transformed: { query, transforms: [{ rename: { nmae: 'title' } }] },
      merged: { query, write: { disposition: 'merge', key: ['idd'] } },
      resumed: { query: { ...query, cursor: 'changed_at' }, write: { disposition: 'merge', key: ['id'] } },
      guarded: { query, transforms: [{ select: ['name'] }], guards: { columns: ['id'] } },
      plain: { query },
      off: { query, enabled: false, transforms: [{ select: ['nothing'] }] },
    },
  );
  expect(code).toBe(1);
  expect(said).toEqual({
    right: fine,
    transformed: expect.stringMatching(/"?nmae"?/),
    merged: expect.stringMatching(/^SET_NO_COLUMN: .*"idd".*did you mean "id"/),
    resumed: expect.stringContaining('changed_at'),
    guarded: expect.stringMatching(/^GUARD_FAILED: A column is missing: id/),
  });
  expect(uploads).toEqual([]);
});

describeWithServer({ servers: ['PostgreSQL', 'MariaDB'] }, 'check --connect', (server) => {
  it.each(['PostgreSQL', 'MariaDB'] as const)("reads a query's columns from %s, and then disconnects", async (kind) => {
    const { host, port, database, user, password } = server(kind);
    const driver = kind === 'PostgreSQL' ? 'postgres' : 'mariadb';
    const { code, said } = await checkJobs(
      { driver, host, port, database, user, password },
      { right: { transforms: [{ select: ['id'] }] }, wrong: { transforms: [{ select: ['price'] }] } },
    );
    expect(code).toBe(1);
    expect(said).toEqual({ right: fine, wrong: expect.stringContaining('price') });
  });
});
