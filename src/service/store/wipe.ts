import type { Database } from './database.ts';

/** Empties all tables, so the database is like a new one. Call it in a transaction. */
export function wipe(db: Database): void {
  const sql = `select name from sqlite_schema where type = 'table' and (name not like 'sqlite_%' or name = 'sqlite_sequence')`;
  const tables = db.all<{ name: string }>(sql).map(({ name }) => name);
  // Twice, because triggers insert rows in the first round. Accounts first, because most rows are deleted with them.
  for (const table of ['accounts', ...tables, ...tables]) db.run(`delete from "${table}"`);
}
