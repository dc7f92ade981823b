import { isObject, signPlaces, textOf, valueAt } from '#sdk';
import type { RestPaging } from './paging-options.ts';

/** A possible paging method, and how to use it to request the second page. */
export interface PagingCandidate {
  readonly paging: RestPaging;
  /** Whether the response itself refers to the next page. If it does, this paging method is more than a guess. */
  readonly isTold: boolean;
  readonly page: Readonly<Record<string, unknown>>;
  readonly link?: string;
}

interface PagingContext {
  /** The target of the Link header's `rel=next` link. */
  readonly link: string | undefined;
  /** Number of records in the response. */
  readonly records: number;
}

/** Likely ways to request the next page, best first. */
export function pagingCandidates(document: unknown, { link, records }: PagingContext): readonly PagingCandidate[] {
  const header: readonly PagingCandidate[] =
    link === undefined ? [] : [{ paging: { kind: 'link_header' }, isTold: true, page: {}, link }];
  return [...header, ...signPlaces.flatMap((place) => toldAt(document, place)), ...counted(document, records)];
}

function toldAt(document: unknown, place: string): PagingCandidate[] {
  const value = valueAt(document, place);
  const [path, text] = isObject(value) ? [`${place}.href`, value.href] : [place, value];
  if (typeof text !== 'string' || text === '') return [];
  if (/^(?:https?:\/\/|[/?])/.test(text))
    return [{ paging: { kind: 'next_link', path }, isTold: true, page: {}, link: text }];
  const parameter = parameterOf(place);
  return [{ paging: { kind: 'cursor', cursor: path, parameter }, isTold: true, page: { token: text } }];
}

/** Common names of the query parameter that sends the token from such a field. */
const parameters: readonly (readonly [RegExp, string])[] = [
  [/nextPageToken$/, 'pageToken'],
  [/next_page_token$/, 'page_token'],
  [/next_?cursor$/i, 'cursor'],
  [/next_?page$/i, 'page'],
];

function parameterOf(place: string): string {
  return parameters.find(([pattern]) => pattern.test(place))?.[1] ?? 'cursor';
}

const totals = ['total', 'count', 'total_count', 'totalCount', 'totalElements', 'total_results', 'totalResults'];
const totalParents = ['', 'meta', 'page', 'paging', 'pagination', 'meta.pagination'];

/**
 * If the total is greater than the number of records in this response, there are more records. The total alone doesn't
 * show how to request them.
 */
function counted(document: unknown, records: number): PagingCandidate[] {
  const places = totalParents.flatMap((parent) => totals.map((name) => (parent === '' ? name : `${parent}.${name}`)));
  const total = places.find((place) => Number(textOf(valueAt(document, place))) > records);
  if (records === 0) return [];
  const stop = total === undefined ? {} : { total };
  const page: PagingCandidate = {
    paging: { kind: 'page', parameter: 'page', ...stop },
    isTold: false,
    page: { number: 2 },
  };
  const offset: PagingCandidate = {
    paging: { kind: 'offset', parameter: 'offset', ...stop },
    isTold: false,
    page: { offset: records },
  };
  return total === undefined ? [page] : [page, offset];
}
