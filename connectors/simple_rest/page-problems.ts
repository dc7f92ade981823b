import { type HttpResponse, httpProblem, Problem, type RunWarning, type Surveyed, shownUrl } from '#sdk';
import type { RestQuery } from './options.ts';
import { failPathsOf } from './page-answer.ts';
import { isCounted, missingOf } from './paging.ts';

/** Error codes for a truncated document, and for a document in another format. */
const cutFaults = new Set(['JSON_TRUNCATED', 'XML_SYNTAX', 'CSV_QUOTE', 'RECORDS_GZIP']);
const otherFaults = new Set(['JSON_SYNTAX', 'RECORDS_FORMAT']);

/**
 * Whether a retry may fix an unreadable page. It may if earlier pages were readable. It also may if the response has no
 * length and isn't chunked, because a lost connection then looks like the end of the response (RFC 9112, 6.3).
 */
export function isPassing(
  error: unknown,
  { answer, number }: { answer: HttpResponse; number: number },
): error is Problem {
  if (!(error instanceof Problem)) return false;
  const { headers } = answer;
  const isOpenEnded = headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
  return (cutFaults.has(error.code) && (number > 1 || isOpenEnded)) || (otherFaults.has(error.code) && number > 1);
}

/** The problem for a page that a retry may fix. */
export function unreadable(url: URL, cause: Problem): Problem {
  return httpProblem('REST_UNREADABLE', 'try_later', `${shownUrl(url)} returned an unreadable page`, {
    seen: `${cause.code}: ${cause.message}${cause.seen === undefined ? '' : `, ${cause.seen}`}`,
    next: 'the page is requested again automatically; if this persists, check whether the connection breaks or a proxy responds instead of the server',
    cause,
  });
}

/** The problem if a later page is missing according to `answers`, because the records of the earlier ones would be lost. */
export function pageMissing({ url, status }: HttpResponse, number: number) {
  return httpProblem('REST_PAGE_MISSING', 'job', `Page ${number} is missing (${shownUrl(url)})`, {
    seen: `status ${status}, which means \`missing\` according to \`answers\``,
    next: 'if this status means that the pages have ended, set it as `stop_at` in `paging`; no data was sent',
  });
}

/** Adds advice to a refusal of a page behind the first one, because some servers refuse the page behind the last one. */
export function laterPageProblem(error: unknown, number: number): unknown {
  if (!(error instanceof Problem) || !['REST_NOT_FOUND', 'REST_REFUSED'].includes(error.code)) return error;
  const { code, family, message, seen, cause } = error;
  return httpProblem(code, family, `${message} (page ${number})`, {
    seen,
    next: 'if the server responds like this behind its last page, set the status as `stop_at` in `paging` (`stop_at: 404`), or set `total` or `pages`; no data was sent',
    cause,
  });
}

/** The records must be a list on every page. Null or an error message isn't the same as a page without records. */
export function shapeProblem({ shape }: Surveyed, query: RestQuery, url: URL): Problem | undefined {
  const { records = '', paging, null_records } = query;
  if (shape === 'null' && null_records === 'error') return noList(records, url, 'null');
  const isPaged = paging.kind !== 'none';
  return shape === 'single' && isPaged && !mayBeRecord(query) ? noList(records, url, 'a single value') : undefined;
}

/**
 * Whether each page can be a single record. Offsets and sizes count records, and if the last page has no next link, an
 * error must be told apart from it.
 */
function mayBeRecord(query: RestQuery): boolean {
  const { records, paging } = query;
  return records === '$' && !isCounted(paging) && (missingOf(paging) !== 'end' || failPathsOf(query).length > 0);
}

/** The problem if something other than a list is at the path of the records. */
function noList(records: string, url: URL, seen: 'null' | 'a single value') {
  const place = records === '' ? 'The response' : `The value at \`${records}\``;
  const single =
    records === '$'
      ? 'set `records` to the path of a list; `$` requires a cursor or link of the next page, and `fail_when` with `missing: end`'
      : "check the server's response; if it reports an error, add the error's path to `fail_when`";
  const next = seen === 'null' ? 'if the server returns null for an empty page, set `null_records: empty`' : single;
  return httpProblem('REST_NO_LIST', 'job', `${place} is not a list of records (${shownUrl(url)})`, {
    seen,
    allowed: 'a list, possibly empty',
    next: `${next}; no data was sent`,
  });
}

/** The problem if there are more pages than `max_pages`. */
export function tooManyPages(maxPages: number) {
  return httpProblem('REST_MAX_PAGES', 'job', `there are more than ${maxPages} pages`, {
    allowed: String(maxPages),
    next: 'raise `max_pages`, or request larger pages; no data was sent',
  });
}

/** The warning if pages of an earlier attempt are part of the result. */
export function pagesOfEarlier(pages: number): RunWarning {
  const what = pages === 1 ? '1 page was' : `${pages} pages were`;
  return {
    code: 'REST_RESUMED',
    message: `${what} read by an earlier attempt of this run, so later changes of their records are missing`,
    next: 'no action needed; to read all pages again in each attempt, remove `resume`',
  };
}
