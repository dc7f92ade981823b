import type { Kysely } from 'kysely';

/** What an attempt of a run hands on to the next one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('retries').addColumn('facts', 'text').execute();
}
