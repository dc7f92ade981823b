import { expect, it, onTestFinished } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { readMigrations } from '../../src/service/store/migrate.ts';

it('a deletion finds every reference to the deleted row by an index, without a table scan', async () => {
  const db = new SqliteDatabase(':memory:');
  onTestFinished(() => void db.close());
  for (const { sql } of await readMigrations()) db.exec(sql);
  const tables = db.prepare("select name from sqlite_master where type = 'table'").all<{ name: string }>();
  const references = tables.flatMap(({ name }) =>
    db
      .prepare(`pragma foreign_key_list(${name})`)
      .all<{ from: string }>()
      .map(({ from }) => ({ name, from })),
  );
  expect(references.length).toBeGreaterThan(20);
  const scanned = references.filter(({ name, from }) => {
    const steps = db.prepare(`explain query plan select 1 from ${name} where ${from} = ?`).all<{ detail: string }>('x');
    return steps.some(({ detail }) => detail.startsWith('SCAN'));
  });
  expect(scanned).toEqual([]);
});
