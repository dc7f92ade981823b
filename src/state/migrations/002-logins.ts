import type { Kysely } from 'kysely';

/** The logins at vendors, one row a login, tokens encrypted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('logins')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('identity', 'text', (column) => column.notNull())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('who', 'text')
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('made_at', 'bigint', (column) => column.notNull())
    .addColumn('renewed_at', 'bigint', (column) => column.notNull())
    .addColumn('asked_at', 'bigint')
    .addColumn('code', 'text')
    .addColumn('message', 'text')
    .execute();
}
