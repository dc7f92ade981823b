import { createHash } from 'node:crypto';
import {
  type AnswerPath,
  type HttpRequest,
  httpProblem,
  type Paging,
  placeAmong,
  setParameter,
  shownUrl,
  textOf,
  withUrl,
} from '#sdk';
import type { RestQuery } from './options.ts';
import type { RestPaging, StopSign } from './paging-options.ts';
import type { RequestQuery } from './request.ts';

/** The query parameter that sends the page value, unless a template puts the value elsewhere. */
interface Carrier {
  readonly fact: 'number' | 'offset' | 'token';
  readonly parameter: string;
}

const carriers: Readonly<Partial<Record<RestPaging['kind'], Carrier>>> = {
  page: { fact: 'number', parameter: 'page' },
  offset: { fact: 'offset', parameter: 'offset' },
  cursor: { fact: 'token', parameter: 'cursor' },
};

/**
 * Converts the options to the SDK's paging options. Each value is looked up by its place's text, because the reader has
 * already found it.
 */
export function pagingOf({ paging, records, ...query }: RestQuery): Paging | undefined {
  const { kind, first, cursor = '', path = '', size, more, last, pages } = paging;
  const at = (place: string): AnswerPath =>
    placeAmong(place, records ?? '').from === 'last_record' ? { last_record: [place] } : [place];
  const maybe = (place: string | undefined) => (place === undefined ? undefined : at(place));
  const signs = stopSigns(paging);
  const stops = {
    more: maybe(more),
    last: maybe(last),
    total: maybe(totalOf(paging)),
    pages: maybe(pages),
    missing: missingOf(paging),
    size: signs.includes('short') ? size : undefined,
    ends_empty: signs.includes('empty') ? true : undefined,
  };
  const stop = Object.fromEntries(Object.entries(stops).filter(([, value]) => value !== undefined)) as object;
  const start = first === undefined ? {} : { first };
  if (kind === 'page') return { by: 'page', ...start, ...stop };
  if (kind === 'offset') return { by: 'offset', ...start, ...stop };
  if (kind === 'cursor')
    return { by: 'token', at: at(cursor), any: keepsType(laterRequest({ ...query, paging })), ...stop };
  if (kind === 'next_link') return { by: 'link', at: at(path), ...stop };
  return kind === 'link_header' ? { by: 'link', ...stop } : undefined;
}

/**
 * What a page without the place of the next page means. In OData, it's the last page (OData JSON Format 4.01, 4.6.5).
 */
export function missingOf({ missing, path = '' }: RestPaging): RestPaging['missing'] {
  return missing ?? (/^@?odata\.nextLink$/.test(path) ? 'end' : undefined);
}

/** The member of `page` that has a value in templates; undefined if none has. */
export function pageFactOf({ kind }: RestPaging): string | undefined {
  return carriers[kind]?.fact;
}

/** Whether paging uses page numbers or offsets. */
export function isCounted({ kind }: RestPaging): boolean {
  return kind === 'page' || kind === 'offset';
}

/** What ends paging in addition to what its kind implies. */
export function stopSigns({ stop_at }: RestPaging): readonly StopSign[] {
  return stop_at === undefined ? [] : [stop_at].flat();
}

/** The place of the exact total; undefined if the total is only an estimate. */
export function totalOf({ total }: RestPaging): string | undefined {
  if (typeof total === 'string' || total === undefined) return total;
  return total.estimate === true ? undefined : total.path;
}

/** Places of the values that paging reads from each response. */
export function placesOf(paging: RestPaging): string[] {
  const { cursor, path, more, last, pages } = paging;
  return [cursor, path, more, last, totalOf(paging), pages].filter(
    (one) => one !== undefined && one !== '',
  ) as string[];
}

/** The options of the request for all pages except the first. */
export function laterRequest<Q extends RequestQuery & Pick<RestQuery, 'paging'>>(query: Q): Q {
  const { next_request } = query.paging;
  if (next_request === undefined) return query;
  const none = { path: undefined, endpoint_url: undefined, body: undefined, form: undefined };
  const nothing = { ...none, method: 'GET', parameters: [] };
  return { ...query, ...nothing, ...next_request };
}

/**
 * The request for a page. The page size and page number are query parameters, unless a template puts them elsewhere.
 */
export function placePage(
  request: HttpRequest,
  query: RequestQuery & Pick<RestQuery, 'paging'>,
  page: Readonly<Record<string, unknown>>,
): HttpRequest {
  const { paging } = query;
  const url = new URL(request.url);
  const { size_parameter, size } = paging;
  if (size_parameter !== undefined && size !== undefined) setParameter(url, size_parameter, String(size));
  const carrier = carriers[paging.kind];
  const value = carrier === undefined ? undefined : textOf(page[carrier.fact]);
  if (carrier !== undefined && value !== undefined && !namesPage(query)) {
    setParameter(url, paging.parameter ?? carrier.parameter, value);
  }
  return withUrl(request, url);
}

/** Whether a template in the request contains the page value. */
function namesPage({ path, endpoint_url, parameters, body, form }: RequestQuery): boolean {
  return /\{\{[^}]*\bpage\./.test(JSON.stringify([path, endpoint_url, parameters, body, form]));
}

/** Whether the body contains the token as a JSON value, so that the token may be a list or an object. */
function keepsType({ body }: Pick<RequestQuery, 'body'>): boolean {
  return typeof body === 'object' && /"\{\{\s*page\.token\s*\}\}"/.test(JSON.stringify(body));
}

/** Rejects a request that was already sent. */
export class AskedBefore {
  readonly #seen = new Set<string>();

  check({ url, body = '', trustedHeaders }: HttpRequest): void {
    const key = createHash('sha256')
      .update(JSON.stringify([url.href, body, trustedHeaders]))
      .digest('base64');
    if (this.#seen.has(key)) throw inCircles(url);
    this.#seen.add(key);
  }
}

function inCircles(url: URL) {
  return httpProblem('REST_PAGES_REPEAT', 'job', 'the pages form a loop: the next page has already been read', {
    seen: shownUrl(url),
    next: 'check `paging`; no data was sent',
  });
}
