import { type Kysely, sql } from 'kysely';

/** Schedules of every kind, by their words; and the firings that came to nothing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable('schedules').renameColumn('cron', 'schedule').execute();
  await sql`update schedules set schedule = timezone || ' ' || schedule`.execute(db);
  await schema.alterTable('schedules').dropColumn('timezone').execute();
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
