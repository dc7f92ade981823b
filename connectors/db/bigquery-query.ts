import { randomUUID } from 'node:crypto';
import { type Extraction, logInBy, Problem } from '#sdk';
import { apiBatches } from './api-extract.ts';
import type { ApiSession } from './api-session.ts';
import {
  type BigqueryCell,
  type BigqueryField,
  type BigqueryRow,
  bigqueryColumn,
  bigqueryValue,
  instantFormat,
} from './bigquery-values.ts';
import { refuseDuplicates } from './cells.ts';
import type { ConnectOptions } from './driver.ts';
import type { SettingValue, SqlParameter, SqlQuery } from './options.ts';
import { noRows } from './result-problems.ts';

/** How long the server may hold a request while the query runs. */
const waitMs = 10_000;
/** Rows per response, which bounds the memory of one. A response also has at most 10 MB. */
const rowsPerPage = 20_000;

interface JobReference {
  readonly jobId: string;
  readonly location?: string | undefined;
}

/** A response with a part of the result. https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/getQueryResults#response-body */
interface Page {
  readonly jobReference: JobReference;
  readonly jobComplete: boolean;
  readonly totalRows?: string;
  readonly pageToken?: string;
  readonly rows?: readonly BigqueryRow[];
}

/** https://cloud.google.com/bigquery/docs/reference/rest/v2/Job */
interface DryRun {
  readonly statistics: {
    readonly query: {
      readonly statementType: string;
      readonly schema?: { readonly fields?: readonly BigqueryField[] };
    };
  };
}

/** One query: a job of BigQuery. */
export class BigqueryQuery {
  readonly #api: ApiSession;
  readonly #root: string;
  readonly #options: ConnectOptions;
  readonly #request: object;
  #format: Readonly<Record<string, string>> = {};

  constructor(api: ApiSession, options: ConnectOptions, { sql, parameters }: SqlQuery) {
    const { database, project } = options.address;
    this.#api = api;
    this.#options = options;
    this.#root = `/bigquery/v2/projects/${encodeURIComponent(project ?? '')}`;
    this.#request = {
      query: sql,
      useLegacySql: false,
      defaultDataset: { projectId: project, datasetId: database },
      parameterMode: 'NAMED',
      queryParameters: parameters.map(parameterOf),
    };
  }

  /** Runs the query, and resolves when its columns are known. The rows are then read on demand. */
  async read(): Promise<Extraction> {
    const fields = await this.#fields();
    const columns = fields.map(bigqueryColumn);
    refuseDuplicates(columns);
    this.#format = instantFormat(fields);
    const first = await this.#firstPage();
    const result = {
      columns,
      pages: this.#pages(first),
      total: Number(first.totalRows ?? 0),
      cellValue: (cell: BigqueryCell, c: number) => bigqueryValue(fields[c]!, cell),
    };
    return { columns, batches: apiBatches(this.#api, result, this.#options.signal) };
  }

  /** A dry run, which is free. Only it says what kind of statement the query is, so a write is never sent. */
  async #fields(): Promise<readonly BigqueryField[]> {
    const { location } = this.#options.address.session;
    const body = { jobReference: { location }, configuration: { dryRun: true, query: this.#request } };
    const answer = await logInBy(this.#options, () => this.#api.post<DryRun>(`${this.#root}/jobs`, body));
    const { statementType, schema } = answer.body.statistics.query;
    if (statementType !== 'SELECT') throw notReading(statementType);
    if (schema?.fields === undefined) throw noRows();
    return schema.fields;
  }

  /**
   * Starts the query under an ID of ours, so that it can be canceled before the first response. Resolves when it's
   * complete.
   */
  async #firstPage(): Promise<Page> {
    const { session } = this.#options.address;
    const { location, maximum_bytes_billed: maximumBytesBilled } = session;
    const seconds = this.#options.source.statement_timeout_seconds ?? 0;
    let job: JobReference = { jobId: `sluice_${randomUUID()}`, location: textOf(location) };
    try {
      const started = await this.#api.post<Pick<Page, 'jobReference'>>(`${this.#root}/jobs`, {
        jobReference: job,
        configuration: {
          query: { ...this.#request, maximumBytesBilled: textOf(maximumBytesBilled) },
          jobTimeoutMs: seconds > 0 ? String(Math.ceil(seconds * 1000)) : undefined,
        },
      });
      job = started.body.jobReference;
      for (;;) {
        const page = await this.#page(job);
        if (page.jobComplete) return page;
        this.#options.alive?.();
      }
    } catch (thrown) {
      const { jobId, location } = job;
      await this.#api.cancel(`${this.#root}/jobs/${encodeURIComponent(jobId)}/cancel${searchOf({ location })}`);
      throw thrown;
    }
  }

  async #page({ jobId, location }: JobReference, pageToken?: string): Promise<Page> {
    const search = {
      location,
      pageToken,
      maxResults: String(rowsPerPage),
      timeoutMs: String(waitMs),
      ...this.#format,
    };
    const { body } = await this.#api.get<Page>(`${this.#root}/queries/${encodeURIComponent(jobId)}${searchOf(search)}`);
    return body;
  }

  async *#pages(first: Page): AsyncGenerator<readonly (readonly BigqueryCell[])[], void, void> {
    for (let page = first; ; page = await this.#page(first.jobReference, page.pageToken)) {
      yield (page.rows ?? []).map(({ f }) => f);
      if (page.pageToken === undefined) return;
    }
  }
}

const textOf = (value: SettingValue | undefined) => (value === undefined ? undefined : String(value));

function searchOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `?${new URLSearchParams(given)}`;
}

/** https://cloud.google.com/bigquery/docs/reference/rest/v2/QueryParameter */
function parameterOf(value: SqlParameter, i: number): object {
  const parameterValue = value === null ? {} : { value: String(value) };
  return { name: `p${i + 1}`, parameterType: { type: typeOf(value) }, parameterValue };
}

function typeOf(value: SqlParameter): string {
  if (typeof value === 'boolean') return 'BOOL';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'INT64' : 'FLOAT64';
  return 'STRING';
}

function notReading(statementType: string): Problem {
  return new Problem({
    code: 'DB_WRITE_REFUSED',
    family: 'job',
    message: 'the statement does not only read',
    seen: statementType,
    allowed: 'SELECT',
    next: 'use one query that only reads data, because sources are read-only',
  });
}
