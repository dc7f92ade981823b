import type { Kysely } from 'kysely';

/** How many attempts at a payload failed while the service took something else. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('outbox')
    .addColumn('blames', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
