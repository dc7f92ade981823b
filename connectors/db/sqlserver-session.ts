import type * as Tedious from 'tedious';
import type { Connection, ConnectionConfiguration, Request } from 'tedious';
import { type Batch, type Column, type Extraction, logInBy, Problem, type Value } from '#sdk';
import type { Server, ServerAddress } from './address.ts';
import { BatchQueue, batchesOf } from './batch-queue.ts';
import { Breakable } from './breakable.ts';
import { refuseDuplicates } from './cells.ts';
import type { ConnectOptions } from './driver.ts';
import type { SqlParameter, SqlQuery } from './options.ts';
import { manyResults, noRows } from './result-problems.ts';
import type { Circumstances } from './server-problems.ts';
import { connectorTo, driverChanged, loadTedious } from './sqlserver-driver.ts';
import { sqlserverProblem } from './sqlserver-problems.ts';
import { sqlserverType } from './sqlserver-values.ts';
import { readTls, type Tls } from './tls-files.ts';

const rowsPerBatch = 1024;
/** Initial estimate of a row's size in bytes. */
const roughRowBytes = 200;

/** A connection to SQL Server. Its transaction is rolled back when the connection is closed. */
export class SqlserverSession {
  readonly #tedious: typeof Tedious;
  readonly #connection: Connection;
  readonly #circumstances: Omit<Circumstances, 'isConnected' | 'hasTls' | 'hasCertificate'>;
  readonly #breakable: Breakable;
  #isConnected = false;
  #loginError: number | undefined;

  private constructor(
    tedious: typeof Tedious,
    config: ConnectionConfiguration,
    circumstances: Omit<Circumstances, 'isConnected' | 'hasTls' | 'hasCertificate'>,
  ) {
    this.#tedious = tedious;
    this.#circumstances = circumstances;
    this.#breakable = new Breakable((thrown) => this.#problem(thrown));
    this.#connection = new tedious.Connection(config);
    this.#connection.on('error', (reason) => this.#breakable.onBroken(reason));
    this.#connection.on('end', () => this.#breakable.onBroken(new Error('the server closed the connection')));
  }

  #problem(thrown: unknown): Problem {
    return sqlserverProblem(thrown, {
      ...this.#circumstances,
      isConnected: this.#isConnected,
      loginError: this.#loginError,
    });
  }

  /** Connects and logs in. Throws a Problem, or the signal's reason. */
  static open(options: ConnectOptions): Promise<SqlserverSession> {
    return logInBy(options, () => SqlserverSession.#open(options));
  }

  static async #open({ source, address, folder, signal, tunnel }: ConnectOptions): Promise<SqlserverSession> {
    signal.throwIfAborted();
    const tedious = loadTedious(folder);
    const { connectSeconds, servers } = address;
    const [server] = servers;
    const config = configOf({
      address,
      server,
      tls: await readTls(address.tls, folder),
      connectMs: connectSeconds * 1000,
      statementMs: Math.ceil((source.statement_timeout_seconds ?? 0) * 1000),
      socket: tunnel?.path,
    });
    const { place } = server;
    const session = new SqlserverSession(tedious, config, { place, connectSeconds });
    session.#connection.once('errorMessage', ({ number }) => {
      session.#loginError = number;
    });
    try {
      await session.#breakable.until(signal, (settle) => session.#connection.connect((failure) => settle(failure)));
      session.#isConnected = true;
      return session;
    } catch (thrown) {
      session.close();
      throw thrown;
    }
  }

  /** Runs one of Sluice's own statements and returns one row of text. */
  async row(sql: string, signal: AbortSignal): Promise<readonly string[]> {
    let found: readonly string[] = [];
    await this.#breakable.until(signal, (settle) => {
      const request = new this.#tedious.Request(sql, (failure) => settle(failure));
      request.on('row', (cells: { value: unknown }[]) => {
        found = cells.map(({ value }) => String(value));
      });
      this.#connection.execSqlBatch(request);
    });
    return found;
  }

  /** Starts a transaction that is never committed, so that all of a query's writes are rolled back. */
  async begin(signal: AbortSignal): Promise<void> {
    await this.row('set xact_abort on; begin transaction', signal);
  }

  /** Runs the query, and resolves when its columns are known. The rows are then read on demand. */
  async read({ sql, parameters }: SqlQuery, signal: AbortSignal): Promise<Extraction> {
    let columns: readonly Column[] | undefined;
    let queue: BatchQueue | undefined;
    await this.#breakable.until(signal, (settle) => {
      const rows = new Rows(() => ({ columns: columns!, queue: queue! }));
      const fail = (thrown: unknown) => {
        queue?.fail(this.#problem(thrown));
        settle(thrown);
      };
      const request = new this.#tedious.Request(sql, (failure) => {
        if (failure) return fail(failure);
        if (columns === undefined) return fail(noRows());
        rows.flush();
        queue!.end();
      });
      queue = new BatchQueue({ pause: () => request.pause(), resume: () => request.resume() });
      this.#bind(request, parameters);
      request.on('columnMetadata', (metadata) => {
        try {
          if (columns !== undefined) throw manyResults();
          columns = columnsOf(metadata);
          settle(undefined);
        } catch (thrown) {
          fail(thrown);
          request.cancel();
        }
      });
      request.on('row', (cells: { value: unknown }[]) => rows.add(cells));
      this.#breakable.onBroken = fail;
      this.#connection.execSql(request);
    });
    const failed = (thrown: unknown) => queue!.fail(this.#problem(thrown));
    this.#breakable.onBroken = failed;
    const abort = () => queue!.fail(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    const leave = async () => {
      signal.removeEventListener('abort', abort);
      this.close();
    };
    return { columns: columns!, batches: batchesOf(queue!, leave) satisfies AsyncIterable<Batch> };
  }

  #bind(request: Request, parameters: readonly SqlParameter[]): void {
    const { TYPES } = this.#tedious;
    parameters.forEach((value, i) => {
      const name = `p${i + 1}`;
      if (typeof value === 'boolean') request.addParameter(name, TYPES.Bit, value);
      else if (typeof value === 'number' && Number.isSafeInteger(value))
        request.addParameter(name, TYPES.BigInt, value);
      else if (typeof value === 'number') request.addParameter(name, TYPES.Float, value);
      else request.addParameter(name, TYPES.NVarChar, value);
    });
  }

  /** Closes the connection. The server then cancels the query and rolls back its transaction. */
  close(): void {
    this.#breakable.onBroken = () => {};
    this.#connection.close();
  }
}

class Rows {
  readonly #into: () => { readonly columns: readonly Column[]; readonly queue: BatchQueue };
  #values: Value[][] = [];
  #length = 0;
  #bytes = 0;

  constructor(into: () => { readonly columns: readonly Column[]; readonly queue: BatchQueue }) {
    this.#into = into;
  }

  add(cells: readonly { readonly value: unknown }[]): void {
    if (this.#length === 0) this.#values = cells.map(() => []);
    cells.forEach(({ value }, c) => {
      this.#values[c]!.push(value as Value);
      if (typeof value === 'string' || value instanceof Uint8Array) this.#bytes += value.length;
    });
    this.#length++;
    this.#bytes += roughRowBytes;
    if (this.#length >= rowsPerBatch || this.#bytes >= 256 * 1024) this.flush();
  }

  flush(): void {
    if (this.#length === 0) return;
    const { columns, queue } = this.#into();
    const cells = this.#values.map((values) => ({ kind: 'values' as const, values }));
    const batch = { columns, cells, length: this.#length };
    const bytes = this.#bytes;
    this.#length = 0;
    this.#bytes = 0;
    queue.push(batch, bytes, () => undefined);
  }
}

interface Described {
  readonly colName: string;
  readonly type: { readonly name: string };
}

function columnsOf(metadata: readonly Described[] | Readonly<Record<string, Described>>): readonly Column[] {
  if (!Array.isArray(metadata)) throw driverChanged();
  const columns = (metadata as readonly Described[]).map(({ colName, type }) => {
    // Each sql_variant value has its own type, and for some types the driver would round the value.
    if (type.name === 'Variant') throw variant(colName);
    return { name: colName, type: sqlserverType(type) };
  });
  refuseDuplicates(columns);
  return columns;
}

function variant(column: string): Problem {
  return new Problem({
    code: 'DB_VALUE_TYPE',
    family: 'job',
    message: `column ${JSON.stringify(column)} has type sql_variant, whose values can each have a different type`,
    where: { column },
    next: `set its type in the query: cast(${column} as nvarchar(max)) as ${column}`,
  });
}

interface ConfigParts {
  readonly address: ServerAddress;
  readonly server: Server;
  readonly tls: Tls | undefined;
  readonly connectMs: number;
  readonly statementMs: number;
  /** Path of the SSH tunnel's socket; undefined without a tunnel. */
  readonly socket: string | undefined;
}

function configOf({ address, server, tls, connectMs, statementMs, socket }: ConfigParts): ConnectionConfiguration {
  const { user, database } = address;
  const { host, port, password } = server;
  const { ca, cert, key } = tls ?? {};
  return {
    server: host,
    authentication: { type: 'default', options: { userName: user ?? '', password: password ?? '' } },
    options: {
      port,
      database,
      encrypt: tls !== undefined,
      trustServerCertificate: tls?.rejectUnauthorized !== true,
      serverName: tls?.servername,
      cryptoCredentialsDetails: {
        ca,
        cert,
        key,
      },
      connectTimeout: connectMs,
      requestTimeout: statementMs,
      maxRetriesOnTransientErrors: 0,
      appName: 'sluice',
      useUTC: true,
      lowerCaseGuids: true,
      useColumnNames: false,
      rowCollectionOnRequestCompletion: false,
      rowCollectionOnDone: false,
      connector: connectorTo(socket === undefined ? { host, port } : { path: socket }),
    },
  };
}
