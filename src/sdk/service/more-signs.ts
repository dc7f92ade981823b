import { nextLink } from '../http/link-header.ts';
import { isObject } from './exact-json.ts';

/** What servers call the way to the next page, or the flag that there is one. */
const names = [
  ...['next', 'next_page', 'nextPage', 'next_url', 'nextUrl', 'nextLink', '@odata.nextLink', 'next_link'],
  ...['next_page_url', 'nextPageToken', 'next_page_token', 'next_cursor', 'nextCursor', 'nextRecordsUrl'],
  ...['has_more', 'hasMore', 'has_next', 'hasNext', 'has_next_page', 'hasNextPage', 'moreResult'],
];

/** Where they stand. */
const parents = ['', 'links', '_links', 'paging', 'pagination', 'meta', 'page_info', 'pageInfo', 'response_metadata'];

/** Paths at which an answer may show that there is a next page. */
export const signPlaces: readonly string[] = parents.flatMap((parent) =>
  names.map((name) => (parent === '' ? name : `${parent}.${name}`)),
);

/**
 * Where an answer shows a next page: a well-known name whose value is an address, a token or true, or a Link header with
 * `rel=next`. A sign is good for a warning, and not for a decision: the names are a convention.
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
