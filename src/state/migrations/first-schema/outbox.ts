import type { SchemaModule } from 'kysely';

/** Creates the tables for payloads, their targets, and the service's responses. */
export async function createOutboxTables(schema: SchemaModule): Promise<void> {
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
    .addColumn('format_options', 'text', (column) => column.notNull().defaultTo('{}'))
    .addColumn('media_type', 'text', (column) => column.notNull())
    .addColumn('as_of', 'bigint', (column) => column.notNull())
    .addColumn('always', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('crashes', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('faults', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('last_attempt_at', 'bigint')
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('unanswered_at', 'bigint')
    .addColumn('code', 'text')
    .addColumn('message', 'text')
    .addColumn('owed_at', 'bigint', (column) => column.notNull())
    .addColumn('waiting_since', 'bigint', (column) => column.notNull())
    .addColumn('settled_at', 'bigint')
    .execute();
  await schema.createIndex('outbox_by_state').on('outbox').columns(['state', 'id']).execute();
  await schema.createIndex('outbox_by_path').on('outbox').columns(['path']).execute();
  await schema.createIndex('outbox_by_run').on('outbox').columns(['run']).execute();
  await schema
    .createIndex('outbox_by_instance')
    .on('outbox')
    .columns(['url', 'client_id', 'instance', 'state', 'id'])
    .execute();
  await schema
    .createIndex('outbox_unanswered')
    .on('outbox')
    .columns(['url', 'client_id', 'instance', 'unanswered_at'])
    .where('unanswered_at', 'is not', null)
    .execute();

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
}
