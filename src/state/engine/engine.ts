import type { Kysely } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import type { Processes } from '../processes/processes.ts';
import type { Tables } from '../tables.ts';
import type { StateServer } from './server-identity.ts';
import type { WriteHealth } from './write-health.ts';

/** A lock that the server releases as soon as the connection of the process that holds it breaks. */
export interface PlannerLock {
  /** Returns whether this process holds the lock. Takes it if it's free. Never throws or waits for another process. */
  tryAcquire(): Promise<boolean>;
  /** Releases the lock. */
  close(): Promise<void>;
}

/** A database that holds a state: a file in the state folder, or a schema on a PostgreSQL server. */
export interface Engine {
  /** Where the database is, for users: its folder, or its URL without credentials. */
  readonly label: string;
  readonly db: Kysely<Tables>;
  /**
   * The same database on connections of its own, whose writes wait for no transaction. Absent if the database has a
   * single connection, as a file has.
   */
  readonly unlockedDb?: Kysely<Tables>;
  /**
   * Takes the locks of a transaction, as its first statement: `keys`, or the whole state. Absent if only one transaction
   * runs at a time anyway.
   */
  lock?(at: Kysely<Tables>, keys: readonly string[] | undefined): Promise<unknown>;
  /**
   * The same database on connections of its own, for the transfer of blobs, which can take long. Absent if the files in
   * the state folder aren't copies of blobs.
   */
  readonly blobDb?: Kysely<Tables>;
  readonly health: WriteHealth;
  /** The clock that all processes that can open this database share. */
  readonly clock: Clock;
  readonly processes: Processes;
  /** The server that has the database. Absent if the database is a file. */
  readonly server?: StateServer;
  /** Returns the lock for the process that plans; undefined if only one process can be the daemon. */
  plannerLock?(): PlannerLock;
  /** Returns whether the table of applied migrations exists. */
  hasMigrations(at: Kysely<Tables>): Promise<boolean>;
  /** Creates what the first migration needs. Runs in its transaction. */
  createSchema?(at: Kysely<Tables>): Promise<void>;
  /** Returns the differences between the tables and the newest schema, as texts for users. */
  schemaDifferences(at: Kysely<Tables>): Promise<readonly string[]>;
  /**
   * For a database on a server: ends all connections after this time. From then on, statements fail at once, also those
   * in progress, as if the server were unreachable.
   */
  disconnectIn?(milliseconds: number): void;
  close(): Promise<void>;
}
