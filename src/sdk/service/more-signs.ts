import { nextLink } from '../http/link-header.ts';
import { isObject } from './exact-json.ts';

/** Common names for the next page's URL, token or flag. */
const names = [
  ...['next', 'next_page', 'nextPage', 'next_url', 'nextUrl', 'nextLink', '@odata.nextLink', 'next_link'],
  ...['next_page_url', 'nextPageToken', 'next_page_token', 'next_cursor', 'nextCursor', 'nextRecordsUrl'],
  ...['has_more', 'hasMore', 'has_next', 'hasNext', 'has_next_page', 'hasNextPage', 'moreResult'],
];

/** Their common locations. */
const parents = ['', 'links', '_links', 'paging', 'pagination', 'meta', 'page_info', 'pageInfo', 'response_metadata'];

/** Paths in a response that may refer to a next page. */
export const signPlaces: readonly string[] = parents.flatMap((parent) =>
  names.map((name) => (parent === '' ? name : `${parent}.${name}`)),
);

/** Common names of the header with the next page's number or token. */
const headerNames = ['X-Next-Page', 'X-Next-Cursor', 'X-Next-Token'];

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Finds a reference to a next page: a common name whose value is a URL, a token or true, a Link header with `rel=next`,
 * or a header such as X-Next-Page. Use it only for warnings, because the names are only conventions.
 */
export function signOfMore(valueAt: (place: string) => unknown, headers: Headers): string | undefined {
  if (nextLink([headers.link ?? []].flat().join(', ')) !== undefined) return 'the Link header';
  const header = headerNames.find((name) => isSign([headers[name.toLowerCase()] ?? []].flat().join()));
  if (header !== undefined) return `\`header(${header})\``;
  const found = signPlaces.find((place) => isSign(valueAt(place)));
  return found === undefined ? undefined : `\`${found}\``;
}

function isSign(value: unknown): boolean {
  if (value === true) return true;
  if (typeof value === 'string') return !['', '0', 'false', 'null'].includes(value);
  return isObject(value) && ('…' in value || isSign(value.href));
}
