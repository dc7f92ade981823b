import type { Kysely } from 'kysely';

/** Until when a request that nobody waits for any more may still arrive at the service. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('sends').addColumn('arrives_by', 'double precision').execute();
}
