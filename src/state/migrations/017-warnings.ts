import type { Kysely } from 'kysely';

/** What a run warned of, as a JSON list; null where there was nothing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('runs').addColumn('warnings', 'text').execute();
}
