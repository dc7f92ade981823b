import type { SchemaModule } from 'kysely';

/** Creates the tables for live processes, the leases that they hold, and the values that they share. */
export async function createProcessTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('heartbeats')
    .addColumn('owner', 'text', (column) => column.primaryKey())
    .addColumn('wall_ms', 'bigint', (column) => column.notNull())
    .addColumn('monotonic_ms', 'double precision', (column) => column.notNull())
    .execute();

  await schema
    .createTable('leases')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('token', 'text', (column) => column.notNull())
    .addColumn('taken_at', 'bigint', (column) => column.notNull())
    .execute();

  await schema
    .createTable('settings')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
}
