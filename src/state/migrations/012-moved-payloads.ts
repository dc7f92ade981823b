import { type Kysely, sql } from 'kysely';

interface Filed {
  readonly id: number;
  readonly path: string | null;
}

/** Files of payloads are named from the state folder on, so that it may be moved: `payloads/RUN/FILE`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of [
    ['outbox', 'path'],
    ['quarantine', 'last_path'],
  ] as const) {
    const { rows } = await sql<Filed>`select id, ${sql.ref(column)} as path from ${sql.table(table)}`.execute(db);
    for (const { id, path } of rows) {
      if (path === null) continue;
      const stored = ['payloads', ...path.split('/').slice(-2)].join('/');
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${stored} where id = ${id}`.execute(db);
    }
  }
}
