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

/**
 * Finds a reference to a next page: a common name whose value is a URL, a token or true, or a Link header with
 * `rel=next`. Use it only for warnings, because the names are only conventions.
 */
export function signOfMore(valueAt: (place: string) => unknown, linkHeader: string | undefined): string | undefined {
  if (linkHeader !== undefined && nextLink(linkHeader) !== undefined) return 'the Link header';
  const found = signPlaces.find((place) => isSign(valueAt(place)));
  return found === undefined ? undefined : `\`${found}\``;
}

function isSign(value: unknown): boolean {
  if (value === true) return true;
  if (typeof value === 'string') return !['', '0', 'false', 'null'].includes(value);
  return isObject(value) && ('…' in value || isSign(value.href));
}
