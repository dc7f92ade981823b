import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import type { ServerSample } from './state-client.ts';
import { isUnwritable } from './state-problem.ts';

/** Which of several replicating PostgreSQL servers a connection leads to, and what its history is. */
export interface ServerIdentity extends Pick<ServerSample, 'boot'> {
  /** The cluster's system identifier, which all servers that replicate from each other share. */
  readonly system: string;
  /** The timeline, in hexadecimal. A standby that is promoted begins a new one, as does a point-in-time recovery. */
  readonly timeline: string;
}

/** The last sample of an engine's connections, and a query for more. */
export interface StateServer {
  /** Returns the last sample. Undefined before the first connection. */
  sample(): ServerSample | undefined;
  /** Asks the server for its identity. Resolves to undefined if the server doesn't tell or is a standby itself. */
  identify(): Promise<ServerIdentity | undefined>;
}

/**
 * Selects a {@link ServerIdentity}, outside of a transaction. The name of a WAL file begins with the timeline. Unlike
 * `pg_control_checkpoint()`, it shows a new timeline at once, not only after the next checkpoint.
 */
export async function identifyServer(db: Kysely<Tables>): Promise<ServerIdentity | undefined> {
  const query = sql<ServerIdentity>`select extract(epoch from pg_postmaster_start_time())::text as boot,
    (select system_identifier::text from pg_control_system()) as system,
    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as timeline`;
  try {
    return (await query.execute(db)).rows[0];
  } catch (error) {
    if (isUnwritable(error)) throw error;
    // Compatible servers lack these functions, roles may not be allowed to call them, and a standby refuses the last one.
    return undefined;
  }
}
