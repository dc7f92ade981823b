import type { Database } from './database.ts';

/** Empties all tables, so that the database is like a new one. Call this in a transaction. */
export function wipe(db: Database): void {
  const sql = `select name from sqlite_schema where type = 'table' and (name not like 'sqlite_%' or name = 'sqlite_sequence')`;
  const tables = db.all<{ name: string }>(sql).map(({ name }) => name);
  // Delete from all tables twice, because triggers insert rows in the first round. Start with the accounts, because
  // most rows are deleted with them.
  for (const table of ['accounts', ...tables, ...tables]) db.run(`delete from "${table}"`);
}
