import pg from 'pg';
import { databaseProblem } from './database-problem.ts';
import { connectionConfig } from './postgres.ts';
import { type ServerSample, sampleQuery } from './state-client.ts';
import type { StateDatabase } from './state-database.ts';

/** The result of inspecting the server of a state's database. Nothing is written. */
export interface ServerInspection {
  readonly user: string;
  readonly schema: string;
  /** The version as text, such as `15.9`, and as a number, such as 150009. */
  readonly version: string;
  readonly versionNumber: number;
  /** Whether the connection goes through a connection pooler. */
  readonly isPooled: boolean;
  readonly isReadOnly: boolean;
  readonly hasSchema: boolean;
  /** Whether the user may create tables in the schema, or the schema itself if it doesn't exist. */
  readonly mayCreate: boolean;
  /** Median of several round trips, in milliseconds. */
  readonly roundTripMs: number;
  /** The server's time minus this machine's time, in milliseconds. */
  readonly clockDifferenceMs: number;
  /** Number of connected standby servers. */
  readonly standbys: number;
  /** Whether a commit waits until a standby has the transaction. */
  readonly isCommitSynchronous: boolean;
  /** Whether a commit waits until the server has written the transaction to disk. */
  readonly isCommitDurable: boolean;
}

const settings = `select current_user as "user", current_setting('server_version') as version,
  current_setting('server_version_num')::int as number, pg_backend_pid() as pid,
  current_setting('transaction_read_only') = 'on' as is_read_only,
  current_setting('synchronous_commit') as commit,
  (select count(*)::int from pg_stat_replication) as standbys,
  exists (select from pg_namespace where nspname = $1) as has_schema,
  case when exists (select from pg_namespace where nspname = $1) then has_schema_privilege($1, 'create')
    else has_database_privilege(current_database(), 'create') end as may_create`;

interface Settings {
  readonly user: string;
  readonly version: string;
  readonly number: number;
  readonly pid: number;
  readonly is_read_only: boolean;
  readonly commit: string;
  readonly standbys: number;
  readonly has_schema: boolean;
  readonly may_create: boolean;
}

/** Inspects the server of a state's database. Throws like a store that uses it. */
export async function inspectServer(database: StateDatabase): Promise<ServerInspection> {
  const client = new pg.Client(connectionConfig(database));
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { schema } = database;
    const seen = (await client.query<Settings>(settings, [schema])).rows[0]!;
    // The pooler chooses its own process ID for the client.
    const { processID } = client as unknown as { readonly processID: number };
    return {
      ...{ user: seen.user, schema, version: seen.version, versionNumber: seen.number },
      isPooled: processID !== seen.pid,
      isReadOnly: seen.is_read_only,
      hasSchema: seen.has_schema,
      mayCreate: seen.may_create,
      standbys: seen.standbys,
      isCommitDurable: seen.commit !== 'off',
      ...(await timesOf(client)),
    };
  } catch (error) {
    throw databaseProblem(error, database);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Compares the clocks in the fastest of several round trips, whose answer left the server halfway through. */
async function timesOf(
  client: pg.Client,
): Promise<Pick<ServerInspection, 'roundTripMs' | 'clockDifferenceMs' | 'isCommitSynchronous'>> {
  const trips: { ms: number; difference: number }[] = [];
  let isCommitSynchronous = false;
  for (let i = 0; i < 10; i++) {
    const [began, at] = [performance.now(), Date.now()];
    const { rows } = await client.query<ServerSample>(sampleQuery);
    const ms = performance.now() - began;
    isCommitSynchronous = rows[0]!.is_synchronous;
    trips.push({ ms, difference: rows[0]!.now - at - ms / 2 });
  }
  const sorted = trips.sort((a, b) => a.ms - b.ms);
  return { roundTripMs: sorted[5]!.ms, clockDifferenceMs: sorted[0]!.difference, isCommitSynchronous };
}
