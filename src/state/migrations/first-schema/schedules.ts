import type { SchemaModule } from 'kysely';

/** Creates the tables for jobs' due times, and for firings that are waiting or were skipped. */
export async function createScheduleTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('schedules')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('schedule', 'text', (column) => column.notNull())
    .addColumn('next_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('deferred_firings')
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('logical_at', 'bigint')
    .addPrimaryKeyConstraint('deferred_firings_key', ['job', 'at'])
    .execute();

  await schema
    .createTable('skips')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('first_at', 'bigint', (column) => column.notNull())
    .addColumn('last_at', 'bigint', (column) => column.notNull())
    .addColumn('firings', 'integer', (column) => column.notNull())
    .addColumn('noted_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('skips_by_job').on('skips').columns(['job', 'sequence']).execute();
}
