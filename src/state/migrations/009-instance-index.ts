import type { Kysely } from 'kysely';

/**
 * What an instance is owed and shows is asked with every run. Looked up by the instance alone, that reads all that was
 * ever delivered to it; with the state in the index, it reads what it answers.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex('outbox_by_instance').execute();
  await db.schema
    .createIndex('outbox_by_instance')
    .on('outbox')
    .columns(['url', 'client_id', 'instance', 'state', 'id'])
    .execute();
}
