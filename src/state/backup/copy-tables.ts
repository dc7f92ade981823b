import { type Kysely, sql } from 'kysely';
import type { SqliteDatabase, SqliteValue } from '../../lib/sqlite.ts';
import { chunksOf, rowsAtOnce } from '../engine/chunks.ts';
import type { Tables } from '../tables.ts';

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

type Row = Readonly<Record<string, SqliteValue>>;

/**
 * Copies all rows of a state from a server to a new database file with the newest schema. `from` is a transaction on
 * the server. Reads a fixed number of rows at a time, because the tables may not fit into memory.
 */
export async function exportTables(from: Kysely<Tables>, schema: string, to: SqliteDatabase): Promise<void> {
  for (const { name, columns } of tablesIn(to)) {
    const values = columns.map(() => '?').join(', ');
    const insert = to.prepare(`insert into ${name} (${columns.join(', ')}) values (${values})`);
    for await (const rows of rowsOn(from, { name, columns, schema })) {
      to.transaction(() => {
        for (const row of rows) insert.run(...columns.map((column) => row[column]!));
      });
    }
  }
}

/** Reads a table with a cursor. The driver's plugin would make the stored paths absolute, so it isn't used. */
async function* rowsOn(db: Kysely<Tables>, { name, columns, schema }: Table & { schema: string }) {
  const bare = db.withoutPlugins();
  const selected = sql.join(columns.map((column) => sql.id(column)));
  await sql`declare copied no scroll cursor for select ${selected} from ${sql.id(schema, name)}`.execute(bare);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(rowsAtOnce)} from copied`.execute(bare);
    if (rows.length === 0) break;
    yield rows;
  }
  await sql`close copied`.execute(bare);
}

/**
 * Copies all rows of a state from a database file to a server. `to` is a transaction in which the empty tables were
 * created. IDs that the server will assign follow those that were assigned before.
 */
export async function importTables(from: SqliteDatabase, to: Kysely<Tables>, schema: string): Promise<void> {
  const bare = to.withoutPlugins().withSchema(schema);
  for (const { name } of tablesIn(from)) {
    const rows = from.prepare(`select * from ${name}`).iterate<Row>();
    for (const some of chunksOf(rows)) {
      await bare
        .insertInto(name as keyof Tables)
        .values(some as never)
        .execute();
    }
  }
  const assigned = from
    .prepare('select name, seq from sqlite_sequence where seq > 0')
    .all<{ name: string; seq: number }>();
  for (const { name, seq } of assigned) {
    const [column] = from.prepare('select name from pragma_table_info(?) where pk = 1').all<{ name: string }>(name);
    await sql`select setval(pg_get_serial_sequence(${`${schema}.${name}`}, ${column!.name}), ${seq})`.execute(bare);
  }
}

/**
 * The tables of a database file. The applied migrations are those of the database that rows are copied to. Blobs are
 * copied as files.
 */
function tablesIn(file: SqliteDatabase): Table[] {
  const names = file.prepare(
    "select name from sqlite_schema where type = 'table' and name not in ('migrations', 'blobs', 'blob_pieces') and name not like 'sqlite\\_%' escape '\\'",
  );
  return names.all<{ name: string }>().map(({ name }) => {
    const columns = file.prepare(`select * from ${name}`).columns();
    return { name, columns: columns.map((column) => column.name) };
  });
}
