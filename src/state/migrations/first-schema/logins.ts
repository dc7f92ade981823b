import type { SchemaModule } from 'kysely';

/** Creates the tables for the encrypted tokens of logins, and for refused logins. */
export async function createLoginTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('logins')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('identity', 'text', (column) => column.notNull())
    .addColumn('encrypted', 'text', (column) => column.notNull())
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

  await schema
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
