import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { sqliteDialect } from './sqlite.ts';
import { StoredPathPlugin } from './stored-paths.ts';
import { WriteHealth } from './write-health.ts';

interface Shared {
  readonly db: Kysely<Tables>;
  readonly health: WriteHealth;
  users: number;
}

/**
 * The open databases by file; each process has only one connection per file. SQLite blocks the thread while it waits
 * for a lock. A second connection on the same thread would cause a deadlock: it would wait for a transaction that can't
 * continue until the wait ends.
 */
const open = new Map<string, Shared>();

/**
 * Opens a database file. The connection is shared within this process and reference-counted, so the last `close` closes
 * it.
 */
export function useDatabase(
  file: string,
  options: { readonly durable?: boolean; readonly mustExist?: boolean } = {},
): { db: Kysely<Tables>; health: WriteHealth; close(): Promise<void> } {
  const shared = open.get(file) ?? connect(file, options);
  shared.users += 1;
  open.set(file, shared);
  let closed = false;
  return {
    db: shared.db,
    health: shared.health,
    async close() {
      if (closed) return;
      closed = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      open.delete(file);
      await shared.db.destroy();
    },
  };
}

function connect(file: string, options: { readonly durable?: boolean; readonly mustExist?: boolean }): Shared {
  const health = new WriteHealth();
  const dialect = sqliteDialect(file, { ...options, health });
  return { db: new Kysely<Tables>({ dialect, plugins: [new StoredPathPlugin(dirname(file))] }), health, users: 0 };
}
