import type { Kysely } from 'kysely';

/** The first tables. Written in types that SQLite and PostgreSQL share. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('owners')
    .addColumn('owner', 'text', (column) => column.primaryKey())
    .addColumn('beat_wall', 'bigint', (column) => column.notNull())
    .addColumn('beat_monotonic', 'double precision', (column) => column.notNull())
    .execute();

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
    .execute();
  await schema.createIndex('runs_by_job').on('runs').columns(['job', 'sequence']).execute();
  await schema.createIndex('runs_by_state').on('runs').columns(['state']).execute();

  await schema
    .createTable('outbox')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('destination', 'text', (column) => column.notNull())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('client_id', 'text', (column) => column.notNull())
    .addColumn('instance', 'text', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('row_count', 'bigint', (column) => column.notNull())
    .addColumn('format', 'text', (column) => column.notNull())
    .addColumn('media_type', 'text', (column) => column.notNull())
    .addColumn('as_of', 'bigint', (column) => column.notNull())
    .addColumn('always', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('last_attempt_at', 'bigint')
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('code', 'text')
    .addColumn('message', 'text')
    .addColumn('owed_at', 'bigint', (column) => column.notNull())
    .addColumn('settled_at', 'bigint')
    .execute();
  await schema.createIndex('outbox_by_state').on('outbox').columns(['state', 'id']).execute();
  await schema.createIndex('outbox_by_instance').on('outbox').columns(['url', 'client_id', 'instance']).execute();
  await schema.createIndex('outbox_by_path').on('outbox').columns(['path']).execute();
  await schema.createIndex('outbox_by_run').on('outbox').columns(['run']).execute();

  await schema
    .createTable('receipts')
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('client_id', 'text', (column) => column.notNull())
    .addColumn('instance', 'text', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('format', 'text', (column) => column.notNull())
    .addColumn('as_of', 'bigint', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('certain', 'integer', (column) => column.notNull())
    .addColumn('tried_as_of', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('receipts_key', ['url', 'client_id', 'instance'])
    .execute();

  await schema
    .createTable('quota')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('used', 'integer', (column) => column.notNull())
    .addColumn('spent_at', 'bigint')
    .addColumn('spent_until', 'bigint')
    .addPrimaryKeyConstraint('quota_key', ['account', 'day'])
    .execute();

  await schema
    .createTable('sends')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('slot', 'integer', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('boot', 'text', (column) => column.notNull())
    .addColumn('free_at', 'double precision')
    .addColumn('ticket', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('sends_key', ['account', 'slot'])
    .execute();

  await schema
    .createTable('accounts')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('held_at', 'bigint', (column) => column.notNull())
    .addColumn('held_until', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('leases')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('token', 'text', (column) => column.notNull())
    .addColumn('taken_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('schedules')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('cron', 'text', (column) => column.notNull())
    .addColumn('timezone', 'text', (column) => column.notNull())
    .addColumn('next_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('targets')
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('client_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('datasource', 'text', (column) => column.notNull())
    .addColumn('instance', 'text', (column) => column.notNull())
    .addColumn('format', 'text', (column) => column.notNull())
    .addColumn('remembered_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('targets_key', ['url', 'client_id', 'name'])
    .execute();

  await schema
    .createTable('settings')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
}
