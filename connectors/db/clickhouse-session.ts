import type { Client } from 'undici';
import { type Batch, batchText, type Extraction, excerpt, logInBy, Problem, readBeginning } from '#sdk';
import type { Server } from './address.ts';
import { brokenProtocol } from './broken-protocol.ts';
import { clickhouseProblem, exceptionIn, proxyProblem } from './clickhouse-problems.ts';
import { ClickhouseRows, format, formatSettings } from './clickhouse-rows.ts';
import type { ConnectOptions, LoginOptions } from './driver.ts';
import { openClient } from './http-client.ts';
import type { SqlParameter, SqlQuery } from './options.ts';
import { avoid, isServerFailure, openOnAny } from './servers.ts';
import { SourceTexts } from './source-texts.ts';
import { readTls, type Tls } from './tls-files.ts';

/**
 * Settings of every query. Without them, the server may write, or return a part of the rows as if it were all of them.
 * The server itself cancels a query if its connection is closed.
 */
const querySettings: Readonly<Record<string, string>> = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: '1',
  ...Object.fromEntries(
    ['read', 'read_leaf', 'group_by', 'sort', 'result', 'timeout', 'set', 'distinct', 'transfer', 'join'].map(
      (what) => [what === 'read_leaf' ? 'read_overflow_mode_leaf' : `${what}_overflow_mode`, 'throw'],
    ),
  ),
  limit: '0',
  offset: '0',
  skip_unavailable_shards: '0',
  extremes: '0',
  ...formatSettings,
};

type Query = Pick<SqlQuery, 'sql' | 'parameters'>;

interface Greeting {
  readonly version: string;
  readonly user: string;
  readonly database: string;
}

/** A connection to one ClickHouse server. */
export class ClickhouseSession {
  readonly place: string;
  readonly #server: Server;
  readonly #options: LoginOptions;
  readonly #client: Client;
  #greeting: Greeting | undefined;

  private constructor(options: LoginOptions, tls: Tls | undefined) {
    const { server } = options;
    this.place = server.place;
    this.#server = server;
    this.#options = options;
    this.#client = openClient(options, tls);
  }

  /** Connects to one of the servers and logs in. Throws a Problem, or the signal's reason. */
  static open(options: ConnectOptions): Promise<ClickhouseSession> {
    const opener = {
      open: (login: LoginOptions) => ClickhouseSession.#open(login),
      objection: async () => undefined,
      close: async (session: ClickhouseSession) => session.close(),
      drop: (session: ClickhouseSession) => session.close(),
    };
    return logInBy(options, () => openOnAny(options, opener));
  }

  static async #open(options: LoginOptions): Promise<ClickhouseSession> {
    const { address, folder, signal } = options;
    signal.throwIfAborted();
    const session = new ClickhouseSession(options, await readTls(address.tls, folder));
    try {
      const row = await session.#row('select version(), currentUser(), currentDatabase()');
      const [version = '', user = '', database = ''] = row;
      session.#greeting = { version, user, database };
      return session;
    } catch (thrown) {
      session.close();
      signal.throwIfAborted();
      throw thrown;
    }
  }

  /** What the server says of itself after the login. */
  get greeting(): Greeting {
    return this.#greeting!;
  }

  /** Runs one of Sluice's own statements, which returns one row of text. */
  async #row(sql: string): Promise<readonly string[]> {
    const { columns, batches } = await this.#rows({ sql, parameters: [] });
    for await (const batch of batches) return batchText(batch)[0]!.map(String);
    throw brokenProtocol(`no row with ${columns.length} columns`);
  }

  /** Runs the query, and resolves when its columns are known. The rows are then read on demand. */
  async read(query: Query, { warn }: ConnectOptions): Promise<Extraction> {
    const { columns, batches, texts } = await this.#rows(query);
    const close = () => this.close();
    async function* whole(): AsyncGenerator<Batch, void, void> {
      try {
        yield* batches;
        if (texts.warning !== undefined) warn?.(texts.warning);
      } finally {
        close();
      }
    }
    return { columns, batches: whole() };
  }

  async #rows(query: Query) {
    const texts = new SourceTexts(this.#options.source);
    try {
      const rows = new ClickhouseRows(await this.#ask(query), texts);
      const columns = await rows.open();
      return { columns, batches: this.#guarded(rows.batches()), texts };
    } catch (thrown) {
      throw this.#problem(thrown);
    }
  }

  async *#guarded(batches: AsyncIterable<Batch>): AsyncGenerator<Batch, void, void> {
    try {
      for await (const batch of batches) {
        this.#options.signal.throwIfAborted();
        yield batch;
      }
    } catch (thrown) {
      throw this.#problem(thrown);
    }
  }

  #problem(thrown: unknown): unknown {
    const { signal, address } = this.#options;
    if (signal.aborted) return signal.reason;
    const isConnected = this.#greeting !== undefined;
    const problem = clickhouseProblem(thrown, {
      place: this.place,
      connectSeconds: address.connectSeconds,
      isConnected,
    });
    if (isConnected && isServerFailure(problem)) avoid(this.#server);
    return problem;
  }

  /** Sends a query, and returns the body of the response. Throws an exception of the server or a Problem. */
  async #ask({ sql, parameters }: Query): Promise<AsyncIterable<Buffer>> {
    const { signal, address } = this.#options;
    const response = await this.#client.request({
      method: 'POST',
      path: `/?${this.#search(parameters)}`,
      headers: {
        'x-clickhouse-user': address.user ?? 'default',
        'x-clickhouse-key': this.#server.password ?? '',
        'user-agent': address.applicationName,
      },
      body: sql,
      signal,
    });
    const used = [response.headers['x-clickhouse-format'] ?? []].flat()[0];
    if (response.statusCode === 200 && used === format) return response.body;
    const text = await readBeginning(response.body);
    const exception = exceptionIn(text);
    if (exception !== undefined) throw exception;
    if (response.statusCode !== 200) throw proxyProblem(response.statusCode, excerpt(text, 80), this.place);
    throw used === undefined
      ? brokenProtocol('a response that is not from ClickHouse', excerpt(text, 80))
      : otherFormat(used);
  }

  #search(parameters: readonly SqlParameter[]): URLSearchParams {
    const { source, address } = this.#options;
    const seconds = source.statement_timeout_seconds;
    return new URLSearchParams([
      ...(address.database === undefined ? [] : [['database', address.database] as [string, string]]),
      ['default_format', format],
      ...(seconds === undefined ? [] : [['max_execution_time', String(seconds)] as [string, string]]),
      ...Object.entries(address.session).map(([name, value]): [string, string] => [name, String(value)]),
      ...Object.entries(querySettings),
      ...parameters.map((value, i): [string, string] => [`param_p${i + 1}`, parameterText(value)]),
    ]);
  }

  /** Closes the connection. The server then cancels the query. */
  close(): void {
    void this.#client.destroy();
  }
}

/** The server reads parameters as it reads cells of tab-separated rows. */
function parameterText(value: SqlParameter): string {
  if (value === null) return '\\N';
  return String(value).replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}

function otherFormat(used: string): Problem {
  return new Problem({
    code: 'DB_QUERY_FAILED',
    family: 'job',
    message: 'the query chooses a format for its result',
    seen: used,
    next: 'remove FORMAT from the query; Sluice reads the rows in a format of its own',
  });
}
