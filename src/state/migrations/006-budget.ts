import { type Kysely, sql } from 'kysely';

/** Who has waited for how long, on which days a request under way was paid for, what the service says was used, how fast it takes us, and which jobs run less often. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .alterTable('outbox')
    .addColumn('waiting_since', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`update outbox set waiting_since = owed_at`.execute(db);
  await schema
    .alterTable('quota')
    .addColumn('others', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema
    .alterTable('sends')
    .addColumn('days', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await schema.alterTable('quota').addColumn('allowance', 'bigint').execute();
  await schema.alterTable('accounts').addColumn('slowed_to', 'integer').execute();
  await schema.alterTable('accounts').addColumn('slowed_at', 'bigint').execute();
  await schema
    .createTable('usage')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('asked_at', 'bigint', (column) => column.notNull())
    .addColumn('refused', 'text')
    .execute();
  await schema
    .createTable('stretches')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('every', 'integer', (column) => column.notNull())
    .addColumn('says', 'text', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .execute();
  await schema.createIndex('stretches_by_job').on('stretches').columns(['job', 'sequence']).execute();
}
