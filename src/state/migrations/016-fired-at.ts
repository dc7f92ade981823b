import type { Kysely } from 'kysely';

/** Which firing of its schedule a run is of: what a process was at when it died is begun anew, and nothing else. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('runs').addColumn('fired_at', 'integer').execute();
}
