import type { Kysely } from 'kysely';

/** What guards held back, which jobs a person holds, and what people decided. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('quarantine')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('findings', 'text', (column) => column.notNull())
    .addColumn('last_run', 'text')
    .addColumn('last_rows', 'bigint')
    .addColumn('last_bytes', 'bigint')
    .addColumn('last_path', 'text')
    .addColumn('reading', 'text')
    .addColumn('watermark', 'text')
    .execute();
  await schema
    .createTable('holds')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('who', 'text', (column) => column.notNull())
    .addColumn('why', 'text', (column) => column.notNull())
    .execute();
  await schema
    .createTable('audit')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('who', 'text', (column) => column.notNull())
    .addColumn('why', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('run', 'text')
    .execute();
}
