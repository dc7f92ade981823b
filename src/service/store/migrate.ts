import { readdir } from 'node:fs/promises';
import { Problem } from '../../lib/problem.ts';
import type { SqliteDatabase } from '../../lib/sqlite.ts';

const folder = new URL('./migrations/', import.meta.url);

interface Migration {
  readonly number: number;
  readonly sql: string;
}

/** Brings the schema up to date. Each numbered file runs once, in order, in a transaction of its own. */
export async function migrate(db: SqliteDatabase): Promise<void> {
  const migrations = await readMigrations();
  const done = Number(db.pragma('user_version'));
  const known = migrations.at(-1)?.number ?? 0;
  if (done > known) throw tooNew(done, known);
  for (const { number, sql } of migrations.filter((migration) => migration.number > done)) {
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${number}`);
    }, 'exclusive');
  }
}

async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}-[a-z-]+\.[jt]s$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const { sql } = (await import(new URL(file, folder).href)) as { sql: string };
      return { number: Number(file.slice(0, 4)), sql };
    }),
  );
}

function tooNew(done: number, known: number): Problem {
  return new Problem({
    code: 'SERVICE_DATA_TOO_NEW',
    family: 'config',
    message: `the data folder was written by a newer version (schema ${done}, this version knows ${known})`,
    next: 'update sluice, or name another folder with --data',
  });
}
