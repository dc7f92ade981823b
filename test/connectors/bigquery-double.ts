import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import type { BigqueryField, BigqueryRow } from '../../connectors/db/bigquery-values.ts';

/** What a statement returns. */
export interface CannedResult {
  readonly fields: readonly BigqueryField[];
  readonly rows: readonly BigqueryRow[];
}

interface QueryConfiguration {
  readonly query: string;
  readonly useLegacySql: boolean;
  readonly maximumBytesBilled?: string;
  readonly defaultDataset: { readonly projectId: string; readonly datasetId: string };
  readonly queryParameters?: readonly {
    readonly name: string;
    readonly parameterType: { readonly type: string };
    readonly parameterValue: { readonly value?: string };
  }[];
}

interface JobBody {
  readonly jobReference: { readonly jobId?: string; readonly location?: string };
  readonly configuration: {
    readonly dryRun?: boolean;
    readonly jobTimeoutMs?: string;
    readonly query: QueryConfiguration;
  };
}

type Respond = (response: ServerResponse, path: string) => boolean;

/**
 * The parts of BigQuery's REST API that Sluice uses, from its document. SQLite runs the statements, after a few words
 * have been translated. https://cloud.google.com/bigquery/docs/reference/rest
 */
export class BigqueryDouble {
  readonly database = new DatabaseSync(':memory:');
  /** Results of statements that SQLite can't run. */
  readonly canned = new Map<string, CannedResult>();
  /** What was asked: `POST jobs`, `GET queries/ID`. */
  readonly asked: string[] = [];
  readonly jobs: JobBody[] = [];
  readonly tokens = new Set(['token-1']);
  rowsPerPage = 3;
  /** How many requests for a result find the job still running. */
  polls = 0;
  /** May respond to a request instead of the double. Returns whether it does. */
  interfere: Respond = () => false;
  readonly #results = new Map<string, CannedResult>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor() {
    this.database.function('session_user', () => 'reader@example.com');
    this.database.function('micros', (text) => BigInt(Date.parse(String(text))) * 1000n);
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
    const url = new URL(request.url!, 'http://bigquery');
    const [, project, path = ''] = /^\/bigquery\/v2\/projects\/([^/]+)\/(.*)$/.exec(url.pathname) ?? [];
    this.asked.push(`${request.method} ${path}`);
    const [, token = ''] = /^Bearer (.*)$/.exec(request.headers.authorization ?? '') ?? [];
    if (this.interfere(response, `${request.method} ${path}`)) return;
    try {
      if (!this.tokens.has(token)) throw new Refusal(401, 'authError', 'Request had invalid credentials.');
      if (project !== 'my-project') throw new Refusal(404, 'notFound', `Not found: Project ${project}`);
      answer(response, this.#answerTo(path, url.searchParams, text));
    } catch (thrown) {
      const { status, reason, message } = thrown instanceof Refusal ? thrown : sqlRefusal(thrown);
      refuse(response, status, reason, message);
    }
  }

  #answerTo(path: string, search: URLSearchParams, body: string): object {
    if (path === 'jobs') return this.#startJob(JSON.parse(body) as JobBody);
    if (path.endsWith('/cancel')) return { kind: 'bigquery#jobCancelResponse' };
    return this.#page(path.replace('queries/', ''), search);
  }

  #startJob(body: JobBody): object {
    const { jobReference, configuration } = body;
    const { query, dryRun = false } = configuration;
    const { datasetId } = query.defaultDataset;
    if (query.useLegacySql) throw new Refusal(400, 'invalidQuery', 'legacy SQL');
    if (datasetId !== 'shop') throw new Refusal(404, 'notFound', `Not found: Dataset my-project:${datasetId}`);
    this.jobs.push(body);
    const isSelect = /^\s*(?:select|with)\b/i.test(query.query);
    const { fields, rows } = isSelect ? this.#run(query) : { fields: undefined, rows: [] };
    const statementType = isSelect ? 'SELECT' : 'INSERT';
    const statistics = { query: { statementType, schema: fields && { fields } } };
    if (dryRun) return { statistics, status: { state: 'DONE' } };
    const job = { projectId: 'my-project', jobId: jobReference.jobId!, location: 'EU' };
    this.#results.set(job.jobId, { fields: fields ?? [], rows });
    return { jobReference: job, statistics, status: { state: 'RUNNING' } };
  }

  #run({ query, queryParameters = [] }: QueryConfiguration): CannedResult {
    const canned = this.canned.get(query);
    if (canned !== undefined) return canned;
    const statement = this.database.prepare(translated(query));
    statement.setReadBigInts(true);
    const columns = statement.columns();
    const parameters = queryParameters.map(({ name, parameterType, parameterValue }): [string, SQLInputValue] => {
      const { value = null } = parameterValue;
      return [name, parameterType.type === 'INT64' && value !== null ? BigInt(value) : value];
    });
    const fields = columns.map(({ name, type }) => ({ name, type: type ?? 'STRING', mode: 'NULLABLE' }));
    const rows = statement.all(Object.fromEntries(parameters)).map((row) => ({
      f: columns.map(({ name }) => ({ v: row[name] == null ? null : String(row[name]) })),
    }));
    return { fields, rows };
  }

  #page(jobId: string, search: URLSearchParams): object {
    const result = this.#results.get(jobId);
    const jobReference = { projectId: 'my-project', jobId, location: 'EU' };
    if (result === undefined || search.get('location') !== 'EU')
      throw new Refusal(404, 'notFound', `Not found: Job my-project:${jobId}`);
    const isIso = result.fields.some(({ timestampPrecision }) => timestampPrecision === '12');
    const format = isIso ? 'formatOptions.timestampOutputFormat' : 'formatOptions.useInt64Timestamp';
    if (search.get(format) !== (isIso ? 'ISO8601_STRING' : 'true')) throw new Refusal(400, 'invalid', 'floats');
    if (this.polls-- > 0) return { jobReference, jobComplete: false };
    const at = Number(search.get('pageToken') ?? 0);
    const end = at + Math.min(this.rowsPerPage, Number(search.get('maxResults') ?? this.rowsPerPage));
    return {
      jobReference,
      jobComplete: true,
      schema: { fields: result.fields },
      totalRows: String(result.rows.length),
      ...(end < result.rows.length ? { pageToken: String(end) } : {}),
      ...(result.rows.length === 0 ? {} : { rows: result.rows.slice(at, end) }),
    };
  }
}

class Refusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

const sqlRefusal = (thrown: unknown) => new Refusal(400, 'invalidQuery', (thrown as Error).message);

/** SQLite's words for BigQuery's. Instants are stored in microseconds. */
function translated(sql: string): string {
  return sql
    .replaceAll(/(?:`my-project`\.)?`shop`\.INFORMATION_SCHEMA\./g, 'INFORMATION_SCHEMA_')
    .replaceAll('`shop`.', '')
    .replaceAll(/cast\((@p\d+) as timestamp\)/g, 'micros($1)')
    .replaceAll(/cast\((@p\d+) as (?:datetime|date|time)\)/g, '$1');
}

function answer(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8', 'content-encoding': 'gzip' });
  response.end(gzipSync(JSON.stringify(body)));
}

/** https://cloud.google.com/bigquery/docs/error-messages */
export function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  response.writeHead(code, { 'content-type': 'application/json; charset=UTF-8' });
  response.end(JSON.stringify({ error: { code, message, errors: [{ message, domain: 'global', reason }] } }));
}
