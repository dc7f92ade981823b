import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import type { SnowflakeColumn } from '../../connectors/db/snowflake-values.ts';

/** What a statement returns. */
export interface CannedResult {
  readonly types: readonly SnowflakeColumn[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** The body of a request that starts a statement. */
export interface StatementBody {
  readonly statement: string;
  readonly timeout?: number;
  readonly database?: string;
  readonly schema?: string;
  readonly warehouse?: string;
  readonly role?: string;
  readonly bindings: Readonly<Record<string, { readonly type: string; readonly value: string | null }>>;
  readonly parameters: Readonly<Record<string, string>>;
}

type Respond = (response: ServerResponse, asked: string, request: IncomingMessage) => boolean;

/**
 * Snowflake's SQL API, from its document. SQLite runs the statements, after a few words have been translated.
 * https://docs.snowflake.com/en/developer-guide/sql-api/reference
 */
export class SnowflakeDouble {
  readonly database = new DatabaseSync(':memory:');
  /** Results of statements that SQLite can't run. */
  readonly canned = new Map<string, CannedResult>();
  readonly asked: string[] = [];
  readonly bodies: StatementBody[] = [];
  rowsPerPartition = 3;
  /** How many looks find the statement still running. */
  polls = 1;
  /** May respond to a request instead of the double. Returns whether it does. */
  interfere: Respond = () => false;
  /** Whether a token is valid. */
  accepts = (token: string, kind: string): boolean => token === 'token-1' && kind === 'PROGRAMMATIC_ACCESS_TOKEN';
  readonly #results = new Map<string, CannedResult>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor() {
    const { database } = this;
    database.function('hex_decode_string', (hex) => Buffer.from(String(hex), 'hex').toString());
    database.function('seconds', (text) => `${Date.parse(String(text)) / 1000}.000000000`);
    for (const [name, value] of Object.entries({
      version: '9.30',
      user: 'READER',
      role: 'REPORTING',
      database: 'SHOP',
    }))
      database.function(`current_${name}`, () => value);
    database.function('current_schema', () => 'PUBLIC');
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    this.database.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { pathname, searchParams } = new URL(request.url!, 'http://snowflake');
    const asked = `${request.method} ${pathname.replace('/api/v2/statements', '')}`;
    this.asked.push(asked);
    if (this.interfere(response, asked, request)) return;
    const [, token = ''] = /^Bearer (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    const kind = String(request.headers['x-snowflake-authorization-token-type']);
    const [, handle, cancel] = /^\w+ \/?([^/]*)(\/cancel)?$/.exec(asked) ?? [];
    if (!this.accepts(token, kind)) return void refuse(response, 401, '390144', 'JWT token is invalid.');
    if (request.method === 'GET') this.#look(response, handle!, searchParams.get('partition'));
    else if (cancel !== undefined) answer(response, 200, { code: '000604', statementHandle: handle });
    else this.#start(response, JSON.parse(text) as StatementBody, searchParams);
  }

  #start(response: ServerResponse, body: StatementBody, search: URLSearchParams): void {
    this.bodies.push(body);
    const statementHandle = search.get('requestId')!;
    try {
      this.#results.set(statementHandle, this.#run(body));
    } catch (thrown) {
      return void refuse(response, 422, '000904', (thrown as Error).message);
    }
    answer(response, 202, { code: '333334', statementHandle, message: 'in progress' });
  }

  #run({ statement, bindings }: StatementBody): CannedResult {
    const canned = this.canned.get(statement);
    if (canned !== undefined) return canned;
    const prepared = this.database.prepare(translated(statement));
    prepared.setReadBigInts(true);
    const columns = prepared.columns();
    const values = Object.values(bindings).map(({ type, value }): SQLInputValue => {
      return type === 'FIXED' && value !== null ? BigInt(value) : value;
    });
    const types = columns.map(({ name, type }) => {
      const [, word = 'text', scale] = /^(\w+)(?:\((\d+)\))?/.exec(type ?? 'text') ?? [];
      return { name, type: word.toLowerCase(), scale: scale === undefined ? null : Number(scale) };
    });
    const rows = prepared
      .all(...values)
      .map((row) => columns.map(({ name }) => (row[name] == null ? null : String(row[name]))));
    return { types, rows };
  }

  #look(response: ServerResponse, handle: string, partition: string | null): void {
    const result = this.#results.get(handle);
    if (result === undefined) return void refuse(response, 404, '390142', 'unknown statement');
    if (partition === null && this.polls-- > 0)
      return void answer(response, 202, { code: '333334', statementHandle: handle });
    const { types, rows } = result;
    const at = Number(partition ?? 0) * this.rowsPerPartition;
    const data = rows.slice(at, at + this.rowsPerPartition);
    if (partition !== null) return void answer(response, 200, { data });
    const partitions = Math.max(1, Math.ceil(rows.length / this.rowsPerPartition));
    const partitionInfo = Array.from({ length: partitions }, () => ({ rowCount: data.length }));
    const resultSetMetaData = { numRows: rows.length, format: 'jsonv2', rowType: types, partitionInfo };
    answer(response, 200, { code: '090001', statementHandle: handle, resultSetMetaData, data });
  }
}

/** SQLite's words for Snowflake's. Instants are stored as their texts. */
function translated(sql: string): string {
  return sql
    .replaceAll('information_schema.', 'information_schema_')
    .replaceAll('"PUBLIC".', '')
    .replaceAll(/cast\((hex_decode_string\('[\da-f]*'\)) as timestamp_\w+\(9\)\)/g, 'seconds($1)');
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  response.end(gzipSync(JSON.stringify(body)));
}

export function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ code, message, sqlState: '42000', statementHandle: 'h' }));
}
