import type { SchemaModule } from 'kysely';

/** Creates the table for the runs that a fleet's planner has queued. */
export async function createFleetTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('fleet_runs')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('fired_at', 'bigint', (column) => column.notNull())
    .addColumn('logical_at', 'bigint')
    .addColumn('attempt', 'text')
    .addColumn('next_firing', 'bigint')
    .addColumn('urgency', 'bigint', (column) => column.notNull())
    .addColumn('config_sha256', 'text', (column) => column.notNull())
    .addColumn('queued_at', 'bigint', (column) => column.notNull())
    .addColumn('owner', 'text')
    .addColumn('token', 'text')
    .addColumn('taken_at', 'bigint')
    .addColumn('run', 'text')
    .addColumn('busy_ms', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('busy_at', 'bigint')
    .addColumn('deaths', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('cancelled', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('outcome', 'text')
    .execute();
}
