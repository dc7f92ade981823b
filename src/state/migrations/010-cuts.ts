import type { Kysely } from 'kysely';

/** How many requests in a row for a payload had no end, because their process had one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('outbox')
    .addColumn('cuts', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
