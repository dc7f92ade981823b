import type { Kysely } from 'kysely';

/** How far each job has read its source, for those that go on where they ended. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('watermarks')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('reading', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('before', 'text')
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('set_at', 'bigint', (column) => column.notNull())
    .execute();
}
