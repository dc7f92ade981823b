import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Extraction, logInBy } from '#sdk';
import { apiBatches } from './api-extract.ts';
import type { ApiAnswer, ApiSession } from './api-session.ts';
import { refuseDuplicates } from './cells.ts';
import type { ConnectOptions } from './driver.ts';
import type { SqlParameter, SqlQuery } from './options.ts';
import { refuseWrites } from './snowflake-statement.ts';
import { type SnowflakeColumn, snowflakeColumn, snowflakeValue } from './snowflake-values.ts';

/** The first and the longest pause between two looks at a query that is running, in milliseconds. */
const firstPauseMs = 50;
const maxPauseMs = 2000;
const path = '/api/v2/statements';

type Row = readonly (string | null)[];

/** A running query, or the first partition of its result. https://docs.snowflake.com/en/developer-guide/sql-api/reference */
interface Statement {
  readonly statementHandle: string;
  readonly resultSetMetaData?: {
    readonly numRows: number;
    readonly rowType: readonly SnowflakeColumn[];
    readonly partitionInfo: readonly { readonly rowCount: number }[];
  };
  readonly data?: readonly Row[];
}

/** One query. */
export class SnowflakeQuery {
  readonly #api: ApiSession;
  readonly #options: ConnectOptions;
  readonly #query: SqlQuery;

  constructor(api: ApiSession, options: ConnectOptions, query: SqlQuery) {
    this.#api = api;
    this.#options = options;
    this.#query = query;
  }

  /** Runs the query, and resolves when its columns are known. The rows are then read on demand. */
  async read(): Promise<Extraction> {
    refuseWrites(this.#query.sql);
    const first = await this.#firstPartition();
    const { rowType: types, numRows: total } = first.resultSetMetaData!;
    const columns = types.map(snowflakeColumn);
    refuseDuplicates(columns);
    const cellValue = (cell: string | null, c: number) => snowflakeValue(types[c]!, cell);
    const result = { columns, pages: this.#partitions(first), total, cellValue };
    return { columns, batches: apiBatches(this.#api, result, this.#options.signal) };
  }

  /** Starts the query without waiting for it, so that it can always be canceled. Resolves when it's complete. */
  async #firstPartition(): Promise<Statement> {
    const start = () => this.#api.post<Statement>(`${path}?async=true&requestId=${randomUUID()}`, this.#request());
    let answer: ApiAnswer<Statement> = await logInBy(this.#options, start);
    const { statementHandle } = answer.body;
    try {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
        if (answer.status === 200 && answer.body.resultSetMetaData !== undefined) return answer.body;
        await wait(pauseMs, undefined, { signal: this.#options.signal });
        this.#options.alive?.();
        answer = await this.#api.get<Statement>(`${path}/${statementHandle}`);
      }
    } catch (thrown) {
      await this.#api.cancel(`${path}/${statementHandle}/cancel`);
      throw thrown;
    }
  }

  #request(): object {
    const { address, source } = this.#options;
    const { warehouse, role, schema, ...parameters } = address.session;
    // A URL's path has both.
    const [database, pathSchema] = address.database?.split('/') ?? [];
    const texts = Object.entries(parameters).map(([name, value]) => [name.toUpperCase(), String(value)]);
    return {
      statement: this.#query.sql,
      timeout: source.statement_timeout_seconds === undefined ? undefined : Math.ceil(source.statement_timeout_seconds),
      database,
      schema: schema ?? pathSchema,
      warehouse,
      role,
      bindings: Object.fromEntries(this.#query.parameters.map((value, i) => [String(i + 1), bindingOf(value)])),
      parameters: { ...Object.fromEntries(texts), MULTI_STATEMENT_COUNT: '1' },
    };
  }

  async *#partitions({
    statementHandle,
    data,
    resultSetMetaData,
  }: Statement): AsyncGenerator<readonly Row[], void, void> {
    yield data ?? [];
    for (let partition = 1; partition < resultSetMetaData!.partitionInfo.length; partition++) {
      const { body } = await this.#api.get<Pick<Statement, 'data'>>(
        `${path}/${statementHandle}?partition=${partition}`,
      );
      yield body.data ?? [];
    }
  }
}

/** https://docs.snowflake.com/en/developer-guide/sql-api/submitting-requests#using-bind-variables-in-a-statement */
function bindingOf(value: SqlParameter): object {
  return { type: typeOf(value), value: value === null ? null : String(value) };
}

function typeOf(value: SqlParameter): string {
  if (typeof value === 'boolean') return 'BOOLEAN';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'FIXED' : 'REAL';
  return 'TEXT';
}
