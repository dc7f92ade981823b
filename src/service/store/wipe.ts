import type { Database } from './database.ts';

/** Leaves every table empty, as in a new folder. Called in a transaction. */
export function wipe(db: Database): void {
  const sql = `select name from sqlite_schema where type = 'table' and (name not like 'sqlite_%' or name = 'sqlite_sequence')`;
  const tables = db.all<{ name: string }>(sql).map(({ name }) => name);
  // Twice: triggers note what the first round deletes. Accounts first, since almost everything goes with them.
  for (const table of ['accounts', ...tables, ...tables]) db.run(`delete from "${table}"`);
}
