import { type Kysely, sql } from 'kysely';

/** When an attempt at a payload last ended without an answer: it may be carried out later than one of a newer payload. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('outbox').addColumn('unanswered_at', 'integer').execute();
  await sql`
    update outbox set unanswered_at = last_attempt_at
    where state in ('owed', 'dead', 'superseded') and attempts > 0
      or state = 'delivered' and (attempts > 1 or cuts > 0)`.execute(db);
  await sql`
    create index outbox_unanswered on outbox (url, client_id, instance, unanswered_at)
    where unanswered_at is not null`.execute(db);
}
