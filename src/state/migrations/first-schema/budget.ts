import type { SchemaModule } from 'kysely';

/** Creates the tables for the requests that each account may send, has sent and is sending. */
export async function createBudgetTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('quota')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('used', 'integer', (column) => column.notNull())
    .addColumn('others', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('allowance', 'bigint')
    .addColumn('spent_at', 'bigint')
    .addColumn('spent_until', 'bigint')
    .addPrimaryKeyConstraint('quota_key', ['account', 'day'])
    .execute();

  await schema
    .createTable('send_slots')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('slot', 'integer', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('boot', 'text', (column) => column.notNull())
    .addColumn('free_at', 'double precision')
    .addColumn('arrives_by', 'double precision')
    .addColumn('ticket', 'text', (column) => column.notNull())
    .addColumn('days', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('send_slots_key', ['account', 'slot'])
    .execute();

  await schema
    .createTable('accounts')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('paused_at', 'bigint', (column) => column.notNull())
    .addColumn('paused_until', 'bigint', (column) => column.notNull())
    .addColumn('slowed_to', 'integer')
    .addColumn('slowed_at', 'bigint')
    .execute();

  await schema
    .createTable('usage_checks')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('checked_at', 'bigint', (column) => column.notNull())
    .addColumn('refused', 'text')
    .execute();

  await schema
    .createTable('throttled_jobs')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('every', 'integer', (column) => column.notNull())
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .execute();
  await schema.createIndex('throttled_jobs_by_job').on('throttled_jobs').columns(['job', 'sequence']).execute();
}
