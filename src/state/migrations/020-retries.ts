import type { Kysely } from 'kysely';

/** Runs that a passing fault ended and that are tried again: one of a job at most. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('retries')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('fired_at', 'integer', (column) => column.notNull())
    .addColumn('logical_at', 'integer')
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('waits', 'integer', (column) => column.notNull())
    .addColumn('since', 'integer', (column) => column.notNull())
    .addColumn('next_at', 'integer', (column) => column.notNull())
    .addColumn('until', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .alterTable('runs')
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(1))
    .execute();
}
