import type { Socket } from 'node:net';
import mysql, { type Connection, type ConnectionOptions } from 'mysql2';
import { type Batch, type Column, type ConnectorLog, type Extraction, logInBy } from '#sdk';
import type { Server } from './address.ts';
import { BatchQueue, batchesOf } from './batch-queue.ts';
import { Breakable } from './breakable.ts';
import { BatchMaker, refuseDuplicates, type WireColumn } from './cells.ts';
import type { ConnectOptions, LoginOptions } from './driver.ts';
import { beginMysql } from './mysql-begin.ts';
import { mysqlConfig } from './mysql-config.ts';
import { mysqlProblem } from './mysql-problems.ts';
import { guardConnection, readRows, streamOf } from './mysql-rows.ts';
import type { BoundStatement, StatementShape } from './mysql-statement.ts';
import { type Field, mysqlType, type ZeroDates } from './mysql-types.ts';
import { maxCancelMs, waitAtMost, waitForCancellation } from './patience.ts';
import type { ServerWarnings } from './server-warnings.ts';
import { avoid, isServerFailure, openOnAny } from './servers.ts';
import { SpanBlock } from './span-block.ts';
import { readTls } from './tls-files.ts';
import type { OpenTransaction } from './transaction.ts';

const goodbyePatienceMs = 800;
interface SessionOptions {
  readonly config: ConnectionOptions;
  readonly server: Server;
  readonly connectSeconds: number;
  readonly log: ConnectorLog;
}

/** One connection to MySQL or MariaDB. */
export class MysqlSession {
  readonly #connection: Connection;
  readonly #config: ConnectionOptions;
  readonly #server: Server;
  readonly #connectSeconds: number;
  readonly #log: ConnectorLog;
  readonly #breakable: Breakable;
  #isConnected = false;

  /** The server's name in messages. */
  readonly place: string;

  private constructor({ config, server, connectSeconds, log }: SessionOptions) {
    this.place = server.place;
    this.#server = server;
    this.#config = config;
    this.#connectSeconds = connectSeconds;
    this.#log = log;
    this.#breakable = new Breakable((thrown) => this.#problem(thrown));
    this.#connection = mysql.createConnection(config);
    guardConnection(this.#connection, log);
    this.#connection.on('error', (reason) => this.#breakable.onBroken(reason));
  }

  /** Connects to one of the servers and logs in. Throws a Problem, or the signal's reason. */
  static open(options: ConnectOptions): Promise<MysqlSession> {
    const opener = {
      open: (login: LoginOptions) => MysqlSession.#open(login),
      objection: async () => undefined,
      close: (session: MysqlSession) => session.close(),
      drop: (session: MysqlSession) => session.#drop(),
    };
    return logInBy(options, () => openOnAny(options, opener));
  }

  static async #open({ address, server, folder, signal, log, tunnel }: LoginOptions): Promise<MysqlSession> {
    signal.throwIfAborted();
    const { connectSeconds } = address;
    const tls = await readTls(address.tls, folder);
    const config = mysqlConfig({ address, server, tls, socket: tunnel?.path });
    const session = new MysqlSession({ config, server, connectSeconds, log });
    try {
      await session.#breakable.until(signal, (settle) => session.#connection.connect((failure) => settle(failure)));
      session.#isConnected = true;
      return session;
    } catch (thrown) {
      session.#drop();
      throw thrown;
    }
  }

  #problem(thrown: unknown): Error {
    const problem = mysqlProblem(thrown, {
      place: this.place,
      connectSeconds: this.#connectSeconds,
      isConnected: this.#isConnected,
      hasTls: this.#config.ssl !== undefined,
      hasCertificate: typeof this.#config.ssl === 'object' && this.#config.ssl.cert !== undefined,
    });
    if (this.#isConnected && isServerFailure(problem)) avoid(this.#server);
    return problem;
  }

  /** Runs Sluice's own statements in order and drops their results. */
  async run(statements: readonly string[], signal: AbortSignal): Promise<void> {
    for (const sql of statements) {
      await this.#breakable.until(signal, (settle) => this.#connection.query(sql, (failure) => settle(failure)));
    }
  }

  /** Begins the strongest transaction that the server supports, read-only by default. */
  async begin({ source, signal, log }: ConnectOptions): Promise<OpenTransaction> {
    const runner = { run: (sql: string) => this.run([sql], signal), isMariadb: this.isMariadb };
    const transaction = await beginMysql(runner, source);
    const { unknownSettings: unknown } = transaction;
    if (unknown.length > 0)
      log.debug('the server does not know settings of the session', { place: this.place, unknown });
    return transaction;
  }

  get isMariadb(): boolean {
    return /mariadb/i.test(this.serverVersion);
  }

  /** The version from the server's greeting, such as `5.5.5-10.11.6-MariaDB-log`. */
  get serverVersion(): string {
    const { _handshakePacket: handshake } = this.#connection as unknown as {
      _handshakePacket?: { serverVersion?: string };
    };
    return handshake?.serverVersion ?? '';
  }

  /** Runs the statement, and resolves when its columns are known. The rows are then read on demand. */
  async read({ sql, names }: BoundStatement, { signal, zeroDates, onWarnings, leave }: Reading): Promise<Extraction> {
    const stream = streamOf(this.#connection);
    const queue = new BatchQueue({ pause: () => stream.pause(), resume: () => stream.resume() });
    let columns: readonly Column[] = [];
    let whole = false;
    await this.#breakable.until(signal, (settle) => {
      let block: SpanBlock | undefined;
      const fail = (thrown: unknown) => {
        const problem = this.#problem(thrown);
        queue.fail(block?.placed(problem) ?? problem);
        settle(thrown);
      };
      this.#breakable.onBroken = fail;
      readRows(this.#connection, {
        sql,
        begin: (fields) => {
          const maker = new BatchMaker(fields.map((field, i) => wireOf(field, names?.[i] ?? field.name, zeroDates)));
          columns = maker.columns;
          refuseDuplicates(columns);
          settle(undefined);
          block = new SpanBlock(maker, queue);
          return block;
        },
        end: (count) => {
          const finish = () => {
            whole = true;
            queue.end();
          };
          if (count === 0) finish();
          else
            this.#warnings(count, signal)
              .then(onWarnings)
              .then(finish, (thrown) => queue.fail(thrown));
        },
        fail,
      });
      this.#breakable.onBroken = fail;
    });
    const abort = () => queue.fail(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    const end = async () => {
      signal.removeEventListener('abort', abort);
      await leave(whole);
    };
    return { columns, batches: batchesOf(queue, end) satisfies AsyncIterable<Batch> };
  }

  /** Prepares a statement without running it. */
  async prepare(sql: string, signal: AbortSignal): Promise<StatementShape> {
    let found: StatementShape = { parameters: 0, names: [] };
    await this.#breakable.until(signal, (settle) =>
      this.#connection.prepare(sql, (failure, statement) => {
        if (failure === null) {
          const { parameters, columns } = statement as unknown as Prepared;
          found = { parameters: parameters.length, names: columns.map(({ name }) => name) };
          this.#connection.unprepare(sql);
        }
        settle(failure);
      }),
    );
    return found;
  }

  /** Runs one of Sluice's own statements and returns one row of text. */
  async row(sql: string, signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#rows(sql, signal))[0] ?? [];
  }

  /** The account's grants, in the format in which the server prints them. */
  async grants(signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#rows('show grants', signal)).map(([grant = '']) => grant);
  }

  /** The warnings about the previous statement. Notes are excluded. */
  async #warnings(count: number, signal: AbortSignal): Promise<ServerWarnings> {
    const rows = await this.#rows('show warnings', signal);
    const warnings = rows.filter(([level]) => level !== 'Note');
    return {
      list: warnings.map(([, code, message]) => ({ code: code!, message: message! })),
      isAll: rows.length >= count,
    };
  }

  async #rows(sql: string, signal: AbortSignal): Promise<readonly string[][]> {
    let found: readonly string[][] = [];
    await this.#breakable.until(signal, (settle) =>
      this.#connection.query({ sql, rowsAsArray: true }, (failure, rows) => {
        if (!failure) found = (rows as unknown as unknown[][]).map((row) => row.map(String));
        settle(failure);
      }),
    );
    return found;
  }

  /** Closes the connection cleanly. */
  async close(): Promise<void> {
    this.#breakable.onBroken = () => {};
    await waitAtMost(goodbyePatienceMs, new Promise<void>((resolve) => this.#connection.end(() => resolve())));
    this.#drop();
  }

  /** Cancels the current statement on the server and closes the connection. */
  async cancel(): Promise<void> {
    this.#breakable.onBroken = () => {};
    const { threadId } = this.#connection;
    this.#drop();
    if (threadId) await waitForCancellation(this.#kill(threadId));
  }

  #drop(): void {
    this.#connection.destroy();
    streamOf(this.#connection).destroy();
  }

  /**
   * A busy server doesn't notice a closed connection, so a second connection kills the statement. Nothing here keeps
   * this process running, which mysql2's connect timeout would do.
   */
  async #kill(threadId: number): Promise<void> {
    const helper = mysql.createConnection({ ...this.#config, connectTimeout: 0 });
    guardConnection(helper, this.#log);
    (streamOf(helper) as Socket).unref();
    const killed = new Promise<void>((resolve) => {
      helper.on('error', () => resolve());
      helper.query(`kill ${threadId}`, () => resolve());
    });
    await waitAtMost(maxCancelMs, killed, { ref: false });
    helper.destroy();
    streamOf(helper).destroy();
  }
}

/** A mysql2 prepared statement, with fields that mysql2's types lack. */
interface Prepared {
  readonly parameters: readonly unknown[];
  readonly columns: readonly { readonly name: string }[];
}

interface Reading {
  readonly signal: AbortSignal;
  readonly zeroDates: ZeroDates;
  /** Called with the server's warnings after the last row. If this callback throws, the run fails. */
  readonly onWarnings: (warnings: ServerWarnings) => void;
  /** Called once at the end. The argument says whether all rows were read. */
  readonly leave: (whole: boolean) => Promise<void>;
}

function wireOf(field: Field, name: string, zeroDates: ZeroDates): WireColumn {
  const { type, fix } = mysqlType(field, zeroDates);
  const column: Column = { name, type };
  return fix === undefined ? { column } : { column, fix };
}
