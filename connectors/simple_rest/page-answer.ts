import {
  blamedByErrors,
  excerpt,
  formatOfMediaType,
  formatOfName,
  type HttpRequest,
  type HttpResponse,
  httpProblem,
  isKnownEncoding,
  type Problem,
  type RecordOptions,
  readSoapFault,
  type SpooledPage,
  shownUrl,
  textOf,
} from '#sdk';
import type { FailWhen, RestQuery } from './options.ts';
import { readsBody } from './paging-faults.ts';

/** How to parse a response. This depends on its headers and on the options. */
export function settingsOf(query: RestQuery, answer: HttpResponse): RecordOptions {
  const contentType = [answer.headers['content-type'] ?? []].flat()[0];
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  const format = query.format ?? formatOfMediaType(contentType) ?? formatOfName(answer.url.pathname);
  if (format === undefined && answer.status !== 204) throw unknownFormat(answer, contentType);
  if (format !== undefined && !['json', 'xml'].includes(format) && readsBody(query)) throw noJson(answer, contentType);
  const encoding = query.encoding ?? (charset !== undefined && isKnownEncoding(charset) ? charset : undefined);
  const own = { noRecords: query.null_records, factColumns: factColumnsOf(query) };
  return { ...query, ...own, format: format ?? 'json', encoding };
}

/** The columns that precede those of the records: for the path, the parent, response headers and places. */
export function factColumnsOf({ path_column, parent_columns, header_columns, page_columns }: RestQuery): string[] {
  const first = path_column === undefined ? [] : [path_column];
  return [...first, ...Object.keys({ ...parent_columns, ...header_columns, ...page_columns })];
}

/** The columns that contain response headers. */
export function factsOf({ header_columns }: RestQuery, { headers }: HttpResponse): Record<string, string | undefined> {
  const facts = Object.entries(header_columns).map(([column, name]) => {
    const value = headers[name.toLowerCase()];
    return [column, value === undefined ? undefined : [value].flat().join(', ')] as const;
  });
  return Object.fromEntries(facts);
}

/**
 * Rejects successful responses that are incomplete: 202 (no result yet), 206 (partial content), and 304 (not modified)
 * if the request wasn't conditional.
 */
export async function refusePartOf(request: HttpRequest, answer: HttpResponse, given: StatusOptions): Promise<void> {
  const problem = partProblem(request, answer, given);
  if (problem === undefined) return;
  // Discards the body, because an unread response would keep its connection busy.
  for await (const _ of answer.body) break;
  throw problem;
}

interface StatusOptions {
  readonly isPaged: boolean;
  readonly isConditional: boolean;
}

function partProblem(request: HttpRequest, answer: HttpResponse, given: StatusOptions): Problem | undefined {
  const { status, url } = answer;
  if (status === 202) {
    // Only a GET is retried, because another POST may start the same work again.
    return httpProblem(
      'REST_ACCEPTED',
      request.method === 'GET' ? 'try_later' : 'job',
      `${shownUrl(url)} accepted the request, but has no result yet`,
      {
        seen: 'status 202',
        allowed: 'status 200 with the data',
        next: 'if the result will appear at the same URL, add `{ status: 202, means: wait }` to `answers`; if the response names another URL, use `report` to wait for it and to request it',
      },
    );
  }
  if (status === 304 && !given.isConditional) {
    return httpProblem('REST_NOT_MODIFIED', 'try_later', `${shownUrl(url)} returned 304 to an unconditional request`, {
      seen: 'status 304',
      allowed: 'status 200 with the data',
      next: 'remove headers such as If-None-Match from `headers` and `parameters`, or set `conditional: true`; a cache between Sluice and the server may be the cause',
    });
  }
  return status === 206 ? partialProblem(request, answer, given.isPaged) : undefined;
}

/**
 * A 206 response is accepted only if its range ends at the total, if the user requested this range, or if it's one of
 * several pages.
 */
function partialProblem(request: HttpRequest, { url, headers }: HttpResponse, isPaged: boolean): Problem | undefined {
  const range = [headers['content-range'] ?? []].flat()[0] ?? '';
  const [, unit = '', first = '', last = '', total = ''] = /^\s*(\w*)\s*(\d+)-(\d+)\/(\d+|\*)\s*$/.exec(range) ?? [];
  const isWhole = total !== '*' && total !== '' && Number(first) === 0 && Number(last) + 1 >= Number(total);
  const isAskedFor = Object.keys(request.trustedHeaders).includes('range');
  if (isWhole || isAskedFor || (isPaged && unit !== 'bytes' && total !== '')) return undefined;
  return httpProblem('REST_PARTIAL', 'job', `${shownUrl(url)} returned only part of the data`, {
    seen: `status 206, ${range === '' ? 'no Content-Range' : `Content-Range: ${range}`}`,
    allowed: 'all of the data, or one of several pages',
    next: 'set `paging` to read the other parts too; no data was sent',
  });
}

/** The paths that mark a successful response as an error: the user's paths or, for GraphQL, `errors`. */
export function failPathsOf({ fail_when, body, records, method }: RestQuery): readonly FailWhen[] {
  if (fail_when !== undefined) return fail_when;
  return records && /^post$/i.test(method) && isGraph(body) ? ['errors'] : [];
}

/** Whether the body contains `query`, either as an object or as JSON text. */
function isGraph(body: unknown): boolean {
  if (typeof body === 'string') return /^\s*\{/.test(body) && /"query"\s*:/.test(body);
  return typeof body === 'object' && body !== null && 'query' in body;
}

/** The error that a response reports; undefined if the response doesn't report an error. */
export function failureMessage(
  paths: readonly FailWhen[],
  valueAt: (path: string) => unknown,
  url: URL,
): Problem | undefined {
  for (const one of paths) {
    const [path, is] = typeof one === 'string' ? [one, undefined] : [one.path, one.is];
    const value = valueAt(path);
    const isFound = is === undefined ? isSomething(value) : textOf(value) === String(is);
    if (!isFound) continue;
    const isPassing = typeof value === 'object' && blamedByErrors([value].flat() as object[]) === 'server';
    return httpProblem(
      'REST_ANSWER_ERROR',
      isPassing ? 'try_later' : 'job',
      `The response reports an error at \`${path}\` (${shownUrl(url)})`,
      {
        seen: excerpt(wordsOf(value), 200),
        next: 'check the request; `fail_when` lists the paths of errors, and `fail_when: []` disables the check; no data was sent',
      },
    );
  }
  return undefined;
}

/** The problem to report for a SOAP fault with status code 200; undefined for any other response. */
export async function soapFailure(
  { input }: SpooledPage,
  encoding: string | undefined,
  url: URL,
): Promise<Problem | undefined> {
  const fault = await readSoapFault(input, encoding);
  if (fault === undefined) return undefined;
  return httpProblem(
    'REST_ANSWER_ERROR',
    fault.isPassing ? 'try_later' : 'job',
    `The response is a SOAP fault (${shownUrl(url)})`,
    {
      seen: excerpt(fault.summary, 200),
      next: fault.isPassing
        ? "the request is retried automatically; if this persists, contact the server's operator"
        : "check the query's `body` and `parameters`, or read faults as data with `fail_when: []`; no data was sent",
    },
  );
}

function isSomething(value: unknown): boolean {
  const text = textOf(value);
  return text !== undefined && !['', 'false', '[]', '{}'].includes(text);
}

/** The messages in a list of errors, or the value itself if it isn't a list. */
function wordsOf(value: unknown): string {
  const messages = [value].flat().map((one) => {
    const message = typeof one === 'object' && one !== null && 'message' in one ? one.message : one;
    return textOf(message) ?? '';
  });
  return messages.join('; ');
}

function unknownFormat({ url }: HttpResponse, contentType: string | undefined) {
  return httpProblem('REST_FORMAT', 'job', `${shownUrl(url)} returned an unsupported content type`, {
    seen: contentType ?? 'no content type',
    allowed: 'json, jsonl, csv, xml',
    next: 'check the URL and the login; set `format` if only the content type is wrong',
  });
}

function noJson({ url }: HttpResponse, contentType: string | undefined) {
  return httpProblem(
    'REST_FORMAT',
    'job',
    `${shownUrl(url)} returned neither json nor xml, so the next page is unknown`,
    {
      seen: contentType ?? 'no content type',
      next: 'set `format: json` if only the content type is wrong, or choose another kind of `paging`',
    },
  );
}
