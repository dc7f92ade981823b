import type { SchemaModule } from 'kysely';

/** Creates the tables for open alerts, what has been reported about them, and messages that are owed to channels. */
export async function createAlertTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('alerts')
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('occasion', 'text', (column) => column.notNull())
    .addColumn('group_key', 'text', (column) => column.notNull())
    .addColumn('cause', 'text', (column) => column.notNull())
    .addColumn('level', 'integer', (column) => column.notNull())
    .addColumn('reported_level', 'integer', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('opened_at', 'bigint', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addColumn('cleared_at', 'bigint')
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .addColumn('what', 'text', (column) => column.notNull())
    .addColumn('code', 'text')
    .addPrimaryKeyConstraint('alerts_key', ['subject', 'occasion'])
    .execute();

  await schema
    .createTable('alert_groups')
    .addColumn('group_key', 'text', (column) => column.primaryKey())
    .addColumn('reported_at', 'bigint', (column) => column.notNull())
    .addColumn('step', 'integer', (column) => column.notNull())
    .addColumn('recurred', 'integer', (column) => column.notNull())
    .execute();

  await schema
    .createTable('alert_watches')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('alert_messages')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('channel', 'text', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('made_at', 'bigint', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_at', 'bigint', (column) => column.notNull())
    .addColumn('settled_at', 'bigint')
    .addColumn('problem', 'text')
    .execute();
  await schema.createIndex('alert_messages_by_state').on('alert_messages').columns(['state', 'channel']).execute();
}
