import type { Kysely } from 'kysely';

/** Logins that were refused, so that a wrong password is not sent until its account is locked. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('login_holds')
    .addColumn('connector', 'text', (column) => column.notNull())
    .addColumn('place', 'text', (column) => column.notNull())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('refusals', 'integer', (column) => column.notNull())
    .addColumn('retry_at', 'bigint')
    .addColumn('code', 'text', (column) => column.notNull())
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('path', 'text')
    .addPrimaryKeyConstraint('login_holds_key', ['connector', 'place', 'account', 'key_id', 'secret'])
    .execute();
}
