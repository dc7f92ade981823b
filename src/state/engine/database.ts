import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import { systemClock } from '../../lib/clock.ts';
import { systemProcesses } from '../processes/processes.ts';
import type { Tables } from '../tables.ts';
import type { Engine } from './engine.ts';
import { sqliteDialect } from './sqlite.ts';
import { differencesFromNewest, hasMigrations } from './sqlite-schema.ts';
import type { StateDatabase } from './state-database.ts';
import { StoredPathPlugin } from './stored-paths.ts';
import { WriteHealth } from './write-health.ts';

interface Shared {
  readonly engine: Engine;
  users: number;
}

/**
 * The open databases by file or server; each process opens each of them only once. SQLite blocks the thread while it
 * waits for a lock. A second connection on the same thread would cause a deadlock: it would wait for a transaction that
 * can't continue until the wait ends.
 */
const open = new Map<string, Shared>();

interface FileOptions {
  readonly durable?: boolean;
  readonly mustExist?: boolean;
}

/** Opens a database file. It's shared within this process and reference-counted, so the last `close` closes it. */
export function useDatabase(file: string, options: FileOptions = {}): Engine {
  return share(file, () => sqliteEngine(file, options));
}

/**
 * Opens a database on a server, as {@link useDatabase} opens a file. The driver is loaded only now, because a state in
 * a folder doesn't need it. The first statement connects.
 */
export async function useServer(database: StateDatabase, folder: string): Promise<Engine> {
  const { postgresEngine } = await import('./postgres.ts');
  const { host, port, user, database: name, schema } = database;
  return share(JSON.stringify([host, port, user, name, schema, folder]), () => postgresEngine(database, folder));
}

function share(key: string, connect: () => Engine): Engine {
  const shared = open.get(key) ?? { engine: connect(), users: 0 };
  shared.users += 1;
  open.set(key, shared);
  let closed = false;
  return {
    ...shared.engine,
    disconnectIn(milliseconds) {
      if (shared.users === 1) shared.engine.disconnectIn?.(milliseconds);
    },
    async close() {
      if (closed) return;
      closed = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      open.delete(key);
      await shared.engine.close();
    },
  };
}

function sqliteEngine(file: string, options: FileOptions): Engine {
  const health = new WriteHealth();
  const dialect = sqliteDialect(file, { ...options, health });
  const folder = dirname(file);
  const db = new Kysely<Tables>({ dialect, plugins: [new StoredPathPlugin(folder)] });
  return {
    label: folder,
    db,
    health,
    clock: systemClock,
    processes: systemProcesses(),
    hasMigrations,
    schemaDifferences: differencesFromNewest,
    close: () => db.destroy(),
  };
}
