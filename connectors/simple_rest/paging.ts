import { createHash } from 'node:crypto';
import { type HttpRequest, httpProblem, type Paging, setParameter, shownUrl, withUrl } from '#sdk';
import type { RestQuery } from './options.ts';
import type { RestPaging } from './paging-options.ts';

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

/** Converts the options to the SDK's paging options. The whole path is passed as one step, as for extracted values. */
export function pagingOf(paging: RestPaging): Paging | undefined {
  const { kind, first, cursor = '', path = '', stop_at, size, more, last, pages, missing } = paging;
  const at = (where: string | undefined) => (where === undefined ? undefined : [where]);
  const stops = {
    more: at(more),
    last: at(last),
    total: at(totalOf(paging)),
    pages: at(pages),
    missing: missing ?? (isOData(path) ? ('end' as const) : undefined),
    size: stop_at === 'short' ? size : undefined,
  };
  const stop = Object.fromEntries(Object.entries(stops).filter(([, value]) => value !== undefined)) as object;
  const start = first === undefined ? {} : { first };
  if (kind === 'page') return { by: 'page', ...start, ...stop };
  if (kind === 'offset') return { by: 'offset', ...start, ...stop };
  if (kind === 'cursor') return { by: 'token', at: [cursor], ...stop };
  if (kind === 'next_link') return { by: 'link', at: [path], ...stop };
  return kind === 'link_header' ? { by: 'link', ...stop } : undefined;
}

/** In OData, a page without a next link is the last page (OData JSON Format 4.01, 4.6.5). */
function isOData(path: string): boolean {
  return /^@?odata\.nextLink$/.test(path);
}

/** Whether paging uses page numbers or offsets. */
export function isCounted({ kind }: RestPaging): boolean {
  return kind === 'page' || kind === 'offset';
}

/** The path of the exact total; undefined if the total is only an estimate. */
export function totalOf({ total }: RestPaging): string | undefined {
  if (typeof total === 'string' || total === undefined) return total;
  return total.estimate === true ? undefined : total.path;
}

/** Paths of the values that paging reads from each response. */
export function placesOf(paging: RestPaging): string[] {
  const { cursor, path, more, last, pages } = paging;
  return [cursor, path, more, last, totalOf(paging), pages].filter(
    (one) => one !== undefined && one !== '',
  ) as string[];
}

/**
 * The request for a page. The page size and page number are query parameters, unless a template puts them elsewhere.
 */
export function placePage(
  request: HttpRequest,
  query: Pick<RestQuery, 'paging' | 'path' | 'endpoint_url' | 'parameters' | 'body'>,
  page: Readonly<Record<string, unknown>>,
): HttpRequest {
  const { paging } = query;
  const url = new URL(request.url);
  const { size_parameter, size } = paging;
  if (size_parameter !== undefined && size !== undefined) setParameter(url, size_parameter, String(size));
  const carrier = carriers[paging.kind];
  const value = carrier === undefined ? undefined : page[carrier.fact];
  if (carrier !== undefined && value !== undefined && !namesPage(query)) {
    setParameter(url, paging.parameter ?? carrier.parameter, String(value));
  }
  return withUrl(request, url);
}

/** Whether a template in the request contains the page value. */
function namesPage({
  path,
  endpoint_url,
  parameters,
  body,
}: Pick<RestQuery, 'path' | 'endpoint_url' | 'parameters' | 'body'>): boolean {
  return /\{\{[^}]*\bpage\./.test(JSON.stringify([path, endpoint_url, parameters, body]));
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
