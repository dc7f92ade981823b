import {
  type ConnectorLog,
  type HttpResponse,
  type ReportApi,
  type ReportOrders,
  type RequestData,
  readReport,
  requestHash,
  type Scope,
  type ServiceAnswer,
  type ServiceCall,
  templateFault,
} from '#sdk';
import { answerPathFault, answerPathOf, dataOf } from './login-of.ts';
import type { RestQuery } from './options.ts';
import type { RestReport } from './report-options.ts';
import type { RequestQuery } from './request.ts';
import type { RestClient } from './rest-client.ts';
import { readSideAnswer } from './side-answer.ts';

export interface RestReportOptions {
  readonly asking: RestClient;
  readonly query: RestQuery;
  readonly scope: Scope;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  readonly alive: () => void;
  readonly orders: ReportOrders;
  /** Whether pages of the result were read. The report then isn't replaced by another one. */
  readonly hasPages: () => boolean;
}

/**
 * Starts a report, or continues with the one that an earlier attempt of the run started, and waits until it's ready.
 * `read` then reads the result, with the report's values in `report`.
 */
export async function withReport(given: RestReportOptions, read: (scope: Scope) => Promise<void>): Promise<void> {
  const { asking, query, scope } = given;
  const { start, poll } = query.report!;
  const job = {
    create: dataOf(start),
    keep: placesOf(start.keep),
    poll: dataOf(poll),
    result: placesOf(poll.keep ?? {}),
    state: answerPathOf(poll.state),
    done: [poll.done].flat().map(String),
    failed: [poll.failed ?? []].flat().map(String),
    every: poll.every ?? '5s',
    patience: poll.at_most ?? '1h',
  };
  async function* result(facts: Readonly<Record<string, unknown>>): AsyncGenerator<undefined> {
    try {
      await read({ ...scope, report: facts });
    } catch (error) {
      if (given.hasPages()) yield;
      throw error;
    }
    yield;
  }
  const report = { ...given, api: new RestReportApi(asking), stream: { job }, title: 'The server' };
  for await (const _ of readReport(report, result));
}

function placesOf(keep: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(keep).map(([name, place]) => [name, answerPathOf(place)]));
}

/** Sends the calls of a report like the requests for pages. */
class RestReportApi implements ReportApi {
  readonly #asking: RestClient;

  constructor(asking: RestClient) {
    this.#asking = asking;
  }

  async hashOf(request: RequestData, scope: Scope): Promise<string> {
    return requestHash(this.#asking.plainRequest(queryOf(request), withReportFacts(scope)));
  }

  async call({ request, scope }: ServiceCall): Promise<{ answer: ServiceAnswer; verdict: 'ok' | 'pending' }> {
    const answer = await this.#asking.fetch(
      () => this.#asking.request(queryOf(request), withReportFacts(scope)),
      (http: HttpResponse) => readSideAnswer(http),
    );
    return { answer, verdict: answer.status === 202 ? 'pending' : 'ok' };
  }
}

/** The SDK calls the report's values `job`. */
function withReportFacts({ job, ...scope }: Scope): Scope {
  return { ...scope, report: job } as Scope;
}

/** The methods of the requests that read a query's data. */
export function methodsOf({ method, report }: Pick<RestQuery, 'method' | 'report'>): readonly string[] {
  const calls = report === undefined ? [] : [report.start, report.poll];
  return [method, ...calls.map((call) => queryOf(dataOf(call)).method)];
}

function queryOf({ path, method, headers, json, form }: RequestData): RequestQuery {
  const hasBody = json !== undefined || form !== undefined;
  const parameters = Object.entries(headers ?? {}).map(([name, value]) => ({
    name,
    value: String(value),
    type: 'header',
  }));
  return {
    path: String(path),
    endpoint_url: undefined,
    method: method ?? (hasBody ? 'POST' : 'GET'),
    parameters,
    body: json,
    form: form as RequestQuery['form'],
  };
}

/** Errors in the report's requests; an empty list if there are none. */
export function reportFaults(report: RestReport | undefined, names: ReadonlySet<string>): string[] {
  if (report === undefined) return [];
  const { start, poll } = report;
  const kept = [...Object.keys(start.keep), ...Object.keys(poll.keep ?? {})];
  const odd = kept.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  const places = [...Object.values(start.keep), ...Object.values(poll.keep ?? {}), poll.state];
  const badPlace = places.map(answerPathFault).find((fault) => fault !== undefined);
  const { keep: _, ...starting } = start;
  const { keep: __, ...polling } = poll;
  const faults = [
    odd === undefined ? undefined : `has the name "${odd}" in \`keep\`; use letters, digits and underscores`,
    badPlace === undefined ? undefined : `has an unusable place: ${badPlace}`,
    templateFault(starting, names),
    templateFault(polling, new Set([...names, 'report'])),
    ...[start, poll].map(({ method, body, form }) =>
      method === 'GET' && (body !== undefined || form !== undefined)
        ? 'cannot send a body with GET; set `method: POST`'
        : undefined,
    ),
    missingFact(JSON.stringify(polling), Object.keys(start.keep)),
  ];
  return faults.filter((fault) => fault !== undefined);
}

/** A name after `report.` that nothing keeps. */
export function missingFact(text: string, kept: readonly string[]): string | undefined {
  const used = [...text.matchAll(/\{\{[^}]*?\breport\.(\w+)/g)].map(([, name]) => name!);
  const missing = used.find((name) => !kept.includes(name));
  return missing === undefined
    ? undefined
    : `uses {{ report.${missing} }}, but \`keep\` has only ${kept.join(', ') || 'nothing'}`;
}
