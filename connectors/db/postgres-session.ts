import type { Socket } from 'node:net';
import type pg from 'pg';
import { type Batch, type Column, logInBy, type Problem, type RunWarning, seenIn } from '#sdk';
import type { Server } from './address.ts';
import { BatchQueue, batchesOf, lazily } from './batch-queue.ts';
import { BatchMaker, type WireColumn } from './cells.ts';
import type { ConnectOptions, LoginOptions } from './driver.ts';
import { connectTimeout } from './network-problems.ts';
import type { SqlQuery, TargetSession } from './options.ts';
import { waitAtMost, waitForCancellation } from './patience.ts';
import { beginPostgres } from './postgres-begin.ts';
import { repeatCancel } from './postgres-cancel.ts';
import { columnsOf } from './postgres-columns.ts';
import { postgresClient, postgresConfig } from './postgres-config.ts';
import { PostgresInterceptor, pgWire } from './postgres-interceptor.ts';
import { checkMessages } from './postgres-messages.ts';
import { logNotice, postgresProblem } from './postgres-problems.ts';
import { Portal } from './postgres-statement.ts';
import { whenHeard } from './reading-socket.ts';
import type { ServerWarning, ServerWarnings } from './server-warnings.ts';
import { avoid, isServerFailure, openOnAny } from './servers.ts';
import { postgresTexts, type SourceTexts } from './source-texts.ts';
import { SpanBlock } from './span-block.ts';
import { objectionTo } from './target-session.ts';
import { readTls } from './tls-files.ts';
import type { OpenTransaction } from './transaction.ts';

const goodbyePatienceMs = 2000;

/** SQLSTATEs of warnings. Notices have other codes. */
const warningClass = '01';
/** Maximum number of warnings to keep, because a function may raise one warning per row. */
const maxWarnings = 1000;

interface Reading {
  readonly signal: AbortSignal;
  /** Called with the server's warnings after the last row. If this callback throws, the run fails. */
  readonly onWarnings: (warnings: ServerWarnings) => void;
  readonly leave: (whole: boolean) => Promise<void>;
}

/** One connection to PostgreSQL. */
export class PostgresSession {
  readonly place: string;
  readonly #server: Server;
  readonly #client: pg.Client;
  readonly #config: pg.ClientConfig;
  #broken: unknown;
  #onBroken: (reason: unknown) => void = () => {};
  readonly #warnings: ServerWarning[] = [];
  #isConnected = false;
  /** Whether Sluice itself ends the connection. */
  #isEnding = false;
  #version = '';
  /** The encoding of the database as the server reports it; empty if it doesn't. */
  #encoding = '';
  /** Present if the server doesn't know the encoding of its texts. */
  #texts: SourceTexts | undefined;
  /** Whether this is another database, which only speaks PostgreSQL's protocol. */
  #isImitation = false;
  /** Whether a response from the server is still outstanding. */
  #isBusy = false;

  private constructor(server: Server, config: pg.ClientConfig) {
    this.place = server.place;
    this.#server = server;
    this.#config = config;
    this.#client = postgresClient(config);
    this.#client.on('error', (reason) => {
      this.#broken ??= reason;
      this.#isBusy = false;
      this.#onBroken(reason);
    });
  }

  /** Connects to one of the servers and logs in. Throws a Problem, or the signal's reason. */
  static open(options: ConnectOptions): Promise<PostgresSession> {
    const opener = {
      open: (login: LoginOptions) => PostgresSession.#open(login),
      objection: (session: PostgresSession, target: TargetSession) =>
        objectionTo(target, {
          ...options,
          ...{ place: session.place, row: (sql) => session.row(sql), drop: () => session.#drop() },
        }),
      close: (session: PostgresSession) => session.close(),
      drop: (session: PostgresSession) => session.#drop(),
    };
    return logInBy(options, () => openOnAny(options, opener));
  }

  static async #open({ address, server, folder, signal, log, tunnel }: LoginOptions): Promise<PostgresSession> {
    signal.throwIfAborted();
    // As in libpq: PostgreSQL doesn't offer TLS on a Unix socket, which doesn't leave the machine.
    const tls = server.host.startsWith('/') ? undefined : await readTls(address.tls, folder);
    const config = postgresConfig({ address, server, tls, socketFolder: tunnel?.folder });
    const session = new PostgresSession(server, config);
    session.#client.on('notice', logNotice(log));
    session.#client.on('notice', ({ code = '', message = '' }) => {
      if (code.startsWith(warningClass) && session.#warnings.length < maxWarnings) {
        session.#warnings.push({ code, message });
      }
    });
    const stop = () => session.#drop();
    signal.addEventListener('abort', stop);
    try {
      const connected = session.#client.connect();
      checkMessages(session.#connection, address);
      session.#connection.on('parameterStatus', (message) => session.#note(message));
      await connected;
      session.#isConnected = true;
    } catch (thrown) {
      session.#drop();
      signal.throwIfAborted();
      if (seenIn(thrown).message === 'timeout expired') {
        throw connectTimeout(session.place, address.connectSeconds);
      }
      throw session.#problem(thrown);
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return session;
  }

  #problem(thrown: unknown): Problem {
    const hasTls = this.#config.ssl !== false;
    const problem = postgresProblem(thrown, { place: this.place, isConnected: this.#isConnected, hasTls });
    if (this.#isConnected && !this.#isEnding && isServerFailure(problem)) avoid(this.#server);
    return problem;
  }

  #note({ parameterName: name, parameterValue: value }: { parameterName: string; parameterValue: string }): void {
    if (name === 'server_version') this.#version = value.split(' ')[0]!;
    if (name === 'server_encoding') this.#encoding = value;
  }

  /** The server's version as it reports it; empty if it doesn't. */
  get version(): string {
    return this.#version;
  }

  /** Runs one of Sluice's own statements, which returns one row of text. */
  async row(sql: string): Promise<readonly string[]> {
    const { rows } = await this.#query<string[]>({ text: sql, rowMode: 'array' });
    return (rows[0] ?? []).map(String);
  }

  async #query<R extends unknown[] | object>(query: pg.QueryConfig | pg.QueryArrayConfig) {
    try {
      return (await this.#client.query(query)) as unknown as { rows: R[] };
    } catch (thrown) {
      throw this.#problem(thrown);
    }
  }

  /** Begins the strongest transaction that the server supports, read-only by default. */
  async begin({ source, address, log }: ConnectOptions): Promise<OpenTransaction> {
    this.#texts = postgresTexts(source, this.#encoding);
    const hasRawTexts = this.#texts !== undefined;
    const runner = { run: (text: string) => this.#query({ text }) };
    const transaction = await beginPostgres(runner, source, { session: address.session, hasRawTexts });
    const { unknownSettings: unknown } = transaction;
    this.#isImitation = unknown.length > 0 || !transaction.isSnapshot;
    if (unknown.length > 0)
      log.debug('the server does not know settings of the session', { place: this.place, unknown });
    return transaction;
  }

  /** The warning about the texts that were changed; undefined if there were none. */
  get textWarning(): RunWarning | undefined {
    return this.#texts?.warning;
  }

  /** The columns of the statement's result. */
  async describe(sql: string): Promise<readonly WireColumn[]> {
    try {
      return await columnsOf(this.#client, sql, this.#texts);
    } catch (thrown) {
      throw this.#problem(thrown);
    }
  }

  /**
   * Runs a described statement and reads batches on demand. At the end, calls `leave` once and tells it whether all
   * rows were read. If they weren't, the connection can no longer be used.
   */
  read(
    wire: readonly WireColumn[],
    { sql, parameters, fetch_rows }: SqlQuery,
    { signal, onWarnings, leave }: Reading,
  ): { readonly columns: readonly Column[]; readonly batches: AsyncIterable<Batch> } {
    const maker = new BatchMaker(wire);
    const { stream, parser } = pgWire(this.#client);
    let whole = false;
    let isWaiting = false;
    const queue = new BatchQueue({
      pause: () => stream.pause(),
      resume: () => {
        stream.resume();
        if (isWaiting) whenHeard(() => queue.isClosed || proceed());
        isWaiting = false;
      },
    });
    let block: SpanBlock | undefined;
    const fail = (thrown: unknown) => {
      const problem = this.#problem(thrown);
      queue.fail(block?.placed(problem) ?? problem);
    };
    const proceed = () => {
      this.#isBusy = true;
      portal.proceed();
    };
    let tap: PostgresInterceptor | undefined;
    const portal = new Portal({
      sql,
      parameters,
      // Other databases run a statement again for each Execute, or can't continue it.
      rows: this.#isImitation ? 0 : fetch_rows,
      begin: () => {
        this.#isBusy = true;
        block = new SpanBlock(maker, queue);
        tap = new PostgresInterceptor({ wire: { stream, parser }, block, width: wire.length, onFault: fail });
      },
      suspended: () => {
        this.#isBusy = portal.isAsking;
        if (queue.isFull || queue.isClosed) isWaiting = true;
        else proceed();
      },
      complete: () => tap?.flush(),
      ready: () => {
        this.#isBusy = false;
        isWaiting = false;
        tap?.release();
        try {
          onWarnings({ list: this.#warnings, isAll: this.#warnings.length < maxWarnings });
        } catch (thrown) {
          queue.fail(thrown);
          return;
        }
        whole = true;
        queue.end();
      },
      fail: (reason) => {
        this.#isBusy = false;
        isWaiting = false;
        tap?.release();
        fail(reason);
      },
    });
    this.#onBroken = fail;
    const abort = () => queue.fail(signal.reason);
    const start = () => {
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
      else if (this.#broken !== undefined) fail(this.#broken);
      else {
        this.#warnings.length = 0;
        this.#client.query(portal);
      }
    };
    const end = async () => {
      signal.removeEventListener('abort', abort);
      await leave(whole);
    };
    return { columns: maker.columns, batches: lazily(start, () => batchesOf(queue, end)) };
  }

  /**
   * Closes the connection cleanly. If the server doesn't respond, stops waiting, because all rows have already arrived.
   */
  async close(): Promise<void> {
    this.#isEnding = true;
    const goodbye = async () => {
      await this.#client.query('commit');
      await this.#client.end();
    };
    await waitAtMost(
      goodbyePatienceMs,
      goodbye().catch(() => {}),
    );
    this.#drop();
  }

  /**
   * Cancels the current statement on the server and closes the connection. A CancelRequest has no effect if it arrives
   * before its statement, and a busy server doesn't notice a closed connection. The request is therefore repeated until
   * the server responds.
   */
  async cancel(): Promise<void> {
    this.#isEnding = true;
    const stream = this.#connection.stream as Socket;
    stream.resume();
    const canceled = repeatCancel(this.#client, { config: this.#config, isBusy: () => this.#isBusy });
    await waitForCancellation(canceled.finally(() => this.#drop()));
    stream.unref();
  }

  #drop(): void {
    this.#isEnding = true;
    this.#connection.stream.destroy();
  }

  get #connection(): pg.Connection {
    return (this.#client as unknown as { connection: pg.Connection }).connection;
  }
}
