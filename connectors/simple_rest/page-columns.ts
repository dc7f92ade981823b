import { excerpt, httpProblem, isObject, placeAmong, type Surveyed, shownUrl, textOf } from '#sdk';
import type { OptionFault } from './option-fault.ts';
import type { RestQuery } from './options.ts';

interface PageValues extends Pick<Surveyed, 'records' | 'nearby'> {
  readonly valueAt: (place: string) => unknown;
  readonly url: URL;
}

/**
 * The page columns' values of a page with records; null is a value. Throws a Problem if the page doesn't have one of
 * them, or if it's a list or an object, which may be too large to be kept as it is written.
 */
export function pageFacts(
  { page_columns }: Pick<RestQuery, 'page_columns'>,
  { records, valueAt, nearby, url }: PageValues,
): Record<string, string | undefined> {
  if (records === 0) return {};
  const facts = Object.entries(page_columns).map(([column, place]) => {
    const value = valueAt(place);
    if (value === undefined) throw noValue(column, { place, url, seen: nearby?.(place) });
    if (Array.isArray(value) || isObject(value)) throw notScalar(column, { place, url, value });
    return [column, textOf(value)] as const;
  });
  return Object.fromEntries(facts);
}

/** Errors in `page_columns`, except for invalid places. */
export function pageColumnFaults(query: RestQuery): OptionFault[] {
  const { page_columns, path_column, header_columns, records = '', format = 'json' } = query;
  const from = Object.values(page_columns).map((place) => placeAmong(place, records).from);
  const names = new Set([...Object.keys(header_columns), path_column]);
  const rules: [isBroken: boolean, message: string][] = [
    [
      from.includes('body') && (records === '' || !['json', 'xml'].includes(format)),
      'requires json or xml responses and `records`, or a place such as `header(NAME)`',
    ],
    [from.includes('last_record'), 'cannot contain places in the last record, because each record has its own values'],
    [Object.keys(page_columns).some((name) => names.has(name)), 'names a column that another option adds'],
  ];
  return rules.flatMap(([isBroken, message]) => (isBroken ? [{ option: 'page_columns', message }] : []));
}

function noValue(column: string, { place, url, seen }: { place: string; url: URL; seen: string | undefined }) {
  return httpProblem(
    'REST_PAGE_COLUMN',
    'job',
    `The response has no value at \`${place}\`, which is set in \`page_columns.${column}\` (${shownUrl(url)})`,
    { seen, next: 'correct the place, or remove the column; no data was sent' },
  );
}

function notScalar(column: string, { place, url, value }: { place: string; url: URL; value: object }) {
  const isList = Array.isArray(value);
  const name = Object.keys(value).find((one) => /^\w+$/.test(one)) ?? 'NAME';
  return httpProblem(
    'REST_PAGE_COLUMN',
    'job',
    `The value at \`${place}\`, which is set in \`page_columns.${column}\`, is ${isList ? 'a list' : 'an object'} (${shownUrl(url)})`,
    {
      seen: excerpt(textOf(value) ?? '', 80),
      allowed: 'a text, a number, true, false or null',
      next: `set a place inside it, such as \`${place}${isList ? '[0]' : `.${name}`}\`; no data was sent`,
    },
  );
}
