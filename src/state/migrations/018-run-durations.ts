import type { Kysely } from 'kysely';

/** How long a run took by the clock that no one sets: the instants of its start and end are of one that may be. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('runs').addColumn('started_tick', 'integer').execute();
  await db.schema.alterTable('runs').addColumn('took_ms', 'integer').execute();
}
