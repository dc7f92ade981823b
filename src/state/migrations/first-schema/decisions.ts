import type { SchemaModule } from 'kysely';

/** Creates the tables for people's decisions about jobs and payloads. */
export async function createDecisionTables(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('holds')
    .addColumn('job', 'text', (column) => column.primaryKey())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .addColumn('who', 'text', (column) => column.notNull())
    .addColumn('why', 'text', (column) => column.notNull())
    .execute();

  await schema
    .createTable('audit')
    .addColumn('sequence', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('who', 'text', (column) => column.notNull())
    .addColumn('why', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('run', 'text')
    .addColumn('former', 'text')
    .addColumn('latter', 'text')
    .execute();
}
