import type { SchemaModule } from 'kysely';

/** Creates the tables for the positions from which jobs continue to read. */
export async function createCheckpointTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('watermarks')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('reading', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('previous_text', 'text')
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('set_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('generations')
    .addColumn('run', 'text', (column) => column.primaryKey())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('reading', 'text', (column) => column.notNull())
    .addColumn('shape', 'text', (column) => column.notNull())
    .addColumn('manifest', 'text', (column) => column.notNull())
    .addColumn('watermark', 'text')
    .addColumn('parent', 'text')
    .addColumn('made_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('current_generations')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('previous_run', 'text')
    .addColumn('shown', 'integer', (column) => column.notNull())
    .addColumn('set_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('backfills')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('reading', 'text', (column) => column.notNull())
    .addColumn('lower', 'text', (column) => column.notNull())
    .addColumn('upper', 'text', (column) => column.notNull())
    .addColumn('chunk', 'text', (column) => column.notNull())
    .addColumn('reached', 'text', (column) => column.notNull())
    .addColumn('staged', 'text')
    .addColumn('begun_at', 'bigint', (column) => column.notNull())
    .execute();
}
