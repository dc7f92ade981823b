import type { Kysely } from 'kysely';

/** What a decision found and what it left, where it changed a value: how far a job has read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('audit').addColumn('former', 'text').execute();
  await db.schema.alterTable('audit').addColumn('latter', 'text').execute();
}
