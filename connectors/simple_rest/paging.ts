import { nextLink, restProblem, shownUrl } from '#sdk';
import type { Paging } from './options.ts';

/** What a page tells about the next one. */
interface PageFacts {
  readonly url: URL;
  readonly records: number;
  readonly values: ReadonlyMap<string, string>;
  readonly link: string | string[] | undefined;
}

/** Where the pages of a query stand, one after another. */
export interface Pager {
  /** Paths of values that are wanted from each answer. */
  readonly wanted: readonly string[];
  first(url: URL): URL;
  /** The address after that page; undefined when it was the last. */
  next(page: PageFacts): URL | undefined;
}

/** The pager for the options; it refuses to go where it has been before. */
export function pagerOf(paging: Paging): Pager {
  const pager = pagers[paging.kind](paging);
  const seen = new Set<string>();
  const fresh = (url: URL | undefined) => {
    if (url === undefined) return undefined;
    if (seen.has(url.href)) throw inCircles(url);
    seen.add(url.href);
    return url;
  };
  return { ...pager, first: (url) => fresh(pager.first(url))!, next: (page) => fresh(pager.next(page)) };
}

const pagers: Record<Paging['kind'], (paging: Paging) => Pager> = {
  none: () => ({ wanted: [], first: (url) => url, next: () => undefined }),
  page: (paging) => counting(paging, { parameter: 'page', first: 1, step: () => 1 }),
  offset: (paging) => counting(paging, { parameter: 'offset', first: 0, step: (records) => records }),
  cursor: ({ cursor = '', parameter = 'cursor', ...paging }) => ({
    wanted: [cursor],
    first: (url) => sized(url, paging),
    next: ({ url, values }) => {
      const value = values.get(cursor) ?? '';
      return value === '' || value === 'false' ? undefined : withParameter(url, parameter, value);
    },
  }),
  next_link: ({ path = '', ...paging }) => ({
    wanted: [path],
    first: (url) => sized(url, paging),
    next: ({ url, values }) => resolved(values.get(path), url),
  }),
  link_header: (paging) => ({
    wanted: [],
    first: (url) => sized(url, paging),
    next: ({ url, link }) => resolved(nextLink(link), url),
  }),
};

interface Counter {
  readonly parameter: string;
  readonly first: number;
  step(records: number): number;
}

/** A server may give fewer records than were asked for, so only an empty page surely is the last. */
function counting(paging: Paging, counter: Counter): Pager {
  const { parameter = counter.parameter, size, stop_at } = paging;
  let at = paging.first ?? counter.first;
  return {
    wanted: [],
    first: (url) => withParameter(sized(url, paging), parameter, String(at)),
    next: ({ url, records }) => {
      if (records === 0 || (stop_at === 'short' && size !== undefined && records < size)) return undefined;
      at += counter.step(records);
      return withParameter(url, parameter, String(at));
    },
  };
}

function sized(url: URL, { size_parameter, size }: Pick<Paging, 'size_parameter' | 'size'>): URL {
  return size_parameter === undefined || size === undefined ? url : withParameter(url, size_parameter, String(size));
}

function withParameter(url: URL, name: string, value: string): URL {
  const next = new URL(url);
  next.searchParams.set(name, value);
  return next;
}

function resolved(link: string | undefined, base: URL): URL | undefined {
  if (link === undefined || link === '' || link === 'false') return undefined;
  const url = URL.parse(link, base);
  if (url !== null) return url;
  throw restProblem('REST_NEXT_LINK', 'job', `${shownUrl(base)} names a next page that is no address`);
}

function inCircles(url: URL) {
  return restProblem('REST_PAGES_REPEAT', 'job', 'the pages lead in circles: the next one has been read already', {
    seen: shownUrl(url),
    next: 'look at `paging`; the part that was read is not sent',
  });
}
