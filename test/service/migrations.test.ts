import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { Database } from '../../src/service/store/database.ts';
import { readMigrations } from '../../src/service/store/migrate.ts';
import { cleanUp, newFolder } from '../state/fixtures.ts';

afterEach(cleanUp);

/** Hashes of the statements: a released migration never changes; add a new one, and its hash here. */
const landed: readonly string[] = ['b962826e2203', 'b16bda8e5e8f'];

it("the service's migrations are unchanged since they were released", async () => {
  const texts = (await readMigrations()).map(({ sql }) => sql.replaceAll(/\s+/g, ' '));
  expect(texts.map((text) => createHash('sha256').update(text).digest('hex').slice(0, 12))).toEqual(landed);
});

it("a data folder whose tables don't match its version is rejected", async () => {
  const folder = newFolder();
  (await Database.open({ folder })).close();
  const database = new SqliteDatabase(join(folder, 'service.db'));
  database.exec('alter table api_keys add column novelty text');
  database.close();
  await expect(Database.open({ folder })).rejects.toMatchObject({
    code: 'SERVICE_DATA_OTHER',
    seen: 'table api_keys has novelty text',
  });
});

it('a service transaction that fails on a full disk changes nothing, and the next one succeeds', async () => {
  const folder = newFolder();
  const database = await Database.open({ folder });
  const pages = database.get<{ page_count: number }>('pragma page_count')!.page_count;
  database.get(`pragma max_page_count = ${pages}`);
  const write = () =>
    database.transaction(() => {
      database.run("insert into accounts (id, name, created_at) values ('small', 'x', 1)");
      database.run("insert into accounts (id, name, created_at) values ('large', ?, 1)", 'x'.repeat(1_000_000));
    });
  expect(write).toThrow(/database or disk is full/);
  expect(database.all("select id from accounts where id in ('small', 'large')")).toEqual([]);
  database.get('pragma max_page_count = 1000000');
  write();
  database.close();
});
