import type { Kysely } from 'kysely';

/** What a failed run's problem said that a person can do about it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('runs').addColumn('next', 'text').execute();
}
