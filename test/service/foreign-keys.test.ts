import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';

const folder = join(import.meta.dirname, '../../src/service/store/migrations');

it('deleting anything looks through no table: whatever refers to it is found by an index', async () => {
  const db = new SQLite(':memory:');
  onTestFinished(() => void db.close());
  for (const file of (await readdir(folder)).sort()) {
    db.exec(((await import(join(folder, file))) as { sql: string }).sql);
  }
  const tables = db.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
  const references = tables.flatMap(({ name }) =>
    (db.pragma(`foreign_key_list(${name})`) as { from: string }[]).map(({ from }) => ({ name, from })),
  );
  expect(references.length).toBeGreaterThan(20);
  const scanned = references.filter(({ name, from }) => {
    const steps = db.prepare(`explain query plan select 1 from ${name} where ${from} = ?`).all('x');
    return (steps as { detail: string }[]).some(({ detail }) => detail.startsWith('SCAN'));
  });
  expect(scanned).toEqual([]);
});
