import type { SchemaModule } from 'kysely';

/** Creates the tables for payloads and kept rows that several machines share. They're empty if the state is a folder. */
export async function createBlobTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('blobs')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('sha256', 'text')
    .addColumn('stored_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('blob_pieces')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('bytes', 'bytea', (column) => column.notNull())
    .addPrimaryKeyConstraint('blob_pieces_key', ['name', 'number'])
    .execute();
}
