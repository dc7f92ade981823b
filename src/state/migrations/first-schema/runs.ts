import type { SchemaModule } from 'kysely';

/** Creates the tables for runs, and for the attempts that runs are waiting for. */
export async function createRunTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('runs')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('row_count', 'bigint')
    .addColumn('bytes', 'bigint')
    .addColumn('requests', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('code', 'text')
    .addColumn('message', 'text')
    .addColumn('next', 'text')
    .addColumn('fired_at', 'bigint')
    .addColumn('started_tick', 'bigint')
    .addColumn('took_ms', 'bigint')
    .addColumn('warnings', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('past_attempts', 'text')
    .execute();
  await schema.createIndex('runs_by_job').on('runs').columns(['job', 'sequence']).execute();
  await schema.createIndex('runs_by_state').on('runs').columns(['state']).execute();

  await schema
    .createTable('retries')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('fired_at', 'bigint', (column) => column.notNull())
    .addColumn('logical_at', 'bigint')
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('waits', 'integer', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('next_at', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('facts', 'text')
    .execute();
}
