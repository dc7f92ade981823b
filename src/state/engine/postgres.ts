import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { CompiledQuery, Kysely, PostgresDialect, type PostgresPool, sql, WithSchemaPlugin } from 'kysely';
import pg from 'pg';
import { serverProcesses } from '../processes/server-processes.ts';
import type { Tables } from '../tables.ts';
import { databaseProblem } from './database-problem.ts';
import type { Engine } from './engine.ts';
import { lockPatienceMs } from './patient-driver.ts';
import { PostgresLock } from './postgres-lock.ts';
import { ServerClock } from './server-clock.ts';
import { identifyServer } from './server-identity.ts';
import { serverDifferences } from './server-schema.ts';
import { lockStatement, type ServerSample, StateClient, type StateClientOptions } from './state-client.ts';
import { databaseText, type StateDatabase, type StateDatabaseTls } from './state-database.ts';
import { isUnwritable } from './state-problem.ts';
import { StateQueryCompiler } from './state-query-compiler.ts';
import { StoredPathPlugin } from './stored-paths.ts';
import { WriteHealth } from './write-health.ts';

/** Opens a state on a PostgreSQL server. `folder` is the folder that stored paths are relative to. */
export function postgresEngine(database: StateDatabase, folder: string): Engine {
  const health = new WriteHealth();
  const clock = new ServerClock();
  let last: ServerSample | undefined;
  const onSample = (sample: ServerSample): void => {
    clock.sample(sample.now);
    last = sample;
  };
  const problemOf = (error: unknown): unknown => databaseProblem(error, database);
  const { schema } = database;
  const sockets = new Sockets();
  const openDb = (options: { readonly max: number; readonly lock?: string }): Kysely<Tables> => {
    // kysely's types also describe cursors, which the state doesn't use.
    const pool = new StatePool(database, {
      ...options,
      health,
      onSample,
      problemOf,
      sockets,
    }) as unknown as PostgresPool;
    const dialect = new StateDialect({ pool });
    return new Kysely<Tables>({ dialect, plugins: [new WithSchemaPlugin(schema), new StoredPathPlugin(folder)] });
  };
  // Several states can use one database, so the schema is part of the lock.
  const db = openDb({ max: maxConnections, lock: `sluice:${schema}` });
  const unlockedDb = openDb({ max: maxUnlocked });
  const blobDb = openDb({ max: maxTransfers });
  let disconnecting: NodeJS.Timeout | undefined;
  return {
    label: databaseText(database),
    db,
    unlockedDb,
    blobDb,
    lock: (at, keys) => at.executeQuery(CompiledQuery.raw(lockStatement, [keys])),
    health,
    clock,
    processes: serverProcesses(() => last?.boot ?? ''),
    server: { sample: () => last, identify: () => identifyServer(db) },
    plannerLock: () =>
      new PostgresLock({ ...connectionConfig(database), stream: () => sockets.create() }, `sluice planner:${schema}`),
    async hasMigrations(at) {
      const name = sql<string | null>`to_regclass(${`${pg.escapeIdentifier(schema)}.migrations`})::text`;
      const { rows } = await sql<{ name: string | null }>`select ${name} as name`.execute(at);
      return rows[0]?.name != null;
    },
    async createSchema(at) {
      const known = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(at);
      // Without this check, users who may not create schemas couldn't use one that exists.
      if (known.rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(at);
    },
    schemaDifferences: (at) => serverDifferences(at, schema),
    disconnectIn(milliseconds) {
      disconnecting ??= setTimeout(() => sockets.cut(), milliseconds).unref();
    },
    async close() {
      await Promise.all([db, unlockedDb, blobDb].map((one) => one.destroy()));
      clearTimeout(disconnecting);
    },
  };
}

class StateDialect extends PostgresDialect {
  override createQueryCompiler(): StateQueryCompiler {
    return new StateQueryCompiler();
  }
}

/** Maximum numbers of connections for one process. Its transactions mostly wait for each other and for the server. */
const maxConnections = 8;
const maxUnlocked = 2;
/** Maximum number of blobs that a process transfers at the same time. Each needs a few megabytes of memory. */
const maxTransfers = 3;
const connectTimeoutMs = 10_000;
/** Longer than the wait for the lock. Without it, a statement on a half-open connection would wait for 15 minutes. */
const queryTimeoutMs = 20_000;
const reconnectMs = 250;

/** The sockets of all connections to a server. */
class Sockets {
  readonly #open = new Set<Socket>();
  #isCut = false;

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Creates the socket of a new connection, for the driver. */
  create(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // The driver connects only after this function has returned.
    if (this.#isCut) setImmediate(() => socket.destroy());
    return socket;
  }

  /** Breaks all connections, also future ones. The server may be hung, so they aren't closed properly. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#open) socket.destroy();
  }
}

interface StatePoolOptions extends StateClientOptions {
  /** Maximum number of connections. */
  readonly max: number;
  readonly sockets: Sockets;
}

/** A pool of {@link StateClient}s. It's what kysely's driver needs of a pool. */
class StatePool {
  readonly options = {};
  readonly #pool: pg.Pool;
  readonly #options: StatePoolOptions;
  readonly #clients = new WeakMap<pg.PoolClient, StateClient>();
  #hasConnected = false;
  /** Since when the server has been unreachable, on the process's own clock. */
  #lostSince: number | undefined;

  constructor(database: StateDatabase, options: StatePoolOptions) {
    const { max, sockets } = options;
    this.#options = options;
    this.#pool = new pg.Pool({ ...connectionConfig(database), max, stream: () => sockets.create() });
    // The pool replaces a connection that is lost while idle. Without a listener, the loss would end the process.
    this.#pool.on('error', () => undefined);
  }

  async connect(): Promise<StateClient> {
    const client = await this.#acquire();
    const known = this.#clients.get(client);
    if (known !== undefined) return known;
    const fresh = new StateClient(client, this.#options);
    this.#clients.set(client, fresh);
    try {
      await fresh.sample();
    } catch (error) {
      fresh.release(true);
      throw error;
    }
    return fresh;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  /**
   * Returns a connection. If the server was reachable before, waits for it for as long as a statement waits for the
   * lock, because nothing has been sent yet. All statements share one deadline, so the last of many fails no later than
   * the first.
   */
  async #acquire(): Promise<pg.PoolClient> {
    const { problemOf, health } = this.#options;
    const begunAt = performance.now();
    for (;;) {
      try {
        const client = await this.#pool.connect();
        this.#hasConnected = true;
        this.#lostSince = undefined;
        return client;
      } catch (error) {
        const problem = problemOf(error);
        if (!isUnwritable(problem)) throw problem;
        if (this.#isGone()) {
          health.refused(problem, begunAt);
          throw problem;
        }
      }
      await sleep(reconnectMs);
    }
  }

  /** Returns whether it's pointless to wait for the server, which is unreachable. */
  #isGone(): boolean {
    const now = performance.now();
    this.#lostSince ??= now;
    const isLate = now - this.#lostSince >= lockPatienceMs;
    return isLate || !this.#hasConnected || this.#options.sockets.isCut;
  }
}

/** Returns the settings for a connection to the database. */
export function connectionConfig({ host, port, user, password = '', database, tls }: StateDatabase): pg.PoolConfig {
  return {
    host,
    port,
    user,
    // A function, so that the driver doesn't look for a password elsewhere if it's empty.
    password: () => password,
    database,
    ssl: tls === undefined ? false : secure(tls),
    application_name: 'sluice',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // An unused store doesn't keep the process alive, as with a file.
    allowExitOnIdle: true,
    types: { getTypeParser: typeParser } as pg.CustomTypesConfig,
  };
}

function secure({ verifyIdentity, ...texts }: StateDatabaseTls): ConnectionOptions {
  return verifyIdentity ? texts : { ...texts, checkServerIdentity: () => undefined };
}

/** The types `bigint` (also of `count`) and `numeric` (of `sum`), by their OIDs. The driver's default for them is text. */
const numbers: ReadonlySet<number> = new Set([20, 1700]);

/** These pools alone parse numbers, because the connector for databases shares the driver's global settings. */
const typeParser: typeof pg.types.getTypeParser = (oid: number) =>
  numbers.has(oid) ? Number : pg.types.getTypeParser(oid);
