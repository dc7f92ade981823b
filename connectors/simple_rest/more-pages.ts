import { type HttpResponse, type RunWarning, textOf } from '#sdk';
import type { RestPaging } from './paging-options.ts';

/** A total number of records, and where the response reports it. */
interface ReportedTotal {
  readonly place: string;
  readonly total: number;
}

interface LastPage {
  readonly valueAt: (place: string) => unknown;
  readonly headers: HttpResponse['headers'];
  readonly records: number;
  readonly kind: RestPaging['kind'];
  /** Location of a reference to a next page. */
  readonly sign: string | undefined;
  /** Whether this is also the first page, so that its number of records can be compared with a total. */
  readonly isOnly: boolean;
}

const totals = ['total', 'count', 'total_count', 'totalCount', 'totalElements', 'total_results', 'totalResults'];
const parents = ['', 'meta', 'page', 'paging', 'pagination', 'meta.pagination'];

/** Paths in a response that often contain the total number of records. */
export const totalPlaces: readonly string[] = [
  ...parents.flatMap((parent) => totals.map((name) => (parent === '' ? name : `${parent}.${name}`))),
  '@odata.count',
];

/** Common names of the header with the total. */
const headerNames = ['X-Total-Count', 'X-Total'];

/** The first common place that reports more records than these. Use it only for advice: the names are conventions. */
export function totalIn(
  valueAt: (place: string) => unknown,
  headers: HttpResponse['headers'],
  records: number,
): ReportedTotal | undefined {
  const inHeaders = headerNames.map((name) => [`header(${name})`, [headers[name.toLowerCase()] ?? []].flat().join()]);
  const inBody = totalPlaces.map((place) => [place, textOf(valueAt(place)) ?? '']);
  const found = [...inBody, ...inHeaders].map(([place = '', text = '']) => ({
    place,
    total: text === '' ? 0 : Number(text),
  }));
  return found.find(({ total }) => Number.isSafeInteger(total) && total > records);
}

/** The warning if the last page refers to a next page, or if the only page reports more records than it has. */
export function moreWarning({ valueAt, headers, records, kind, sign, isOnly }: LastPage): RunWarning | undefined {
  const more = { code: 'REST_MORE_PAGES', incomplete: true } as const;
  if (sign !== undefined && (records > 0 || kind === 'none')) {
    return {
      ...more,
      message: `The last response refers to a next page, at ${sign}, which was not read`,
      next:
        kind === 'none'
          ? 'set `paging` to read all pages'
          : 'check the paths of the next page and the total in `paging`',
    };
  }
  const reported = isOnly ? totalIn(valueAt, headers, records) : undefined;
  if (reported === undefined) return undefined;
  return {
    ...more,
    message: `The response reports ${reported.total} records at \`${reported.place}\`, but has ${records}, and no other page would be requested`,
    next: 'set `paging` to read all pages',
  };
}
