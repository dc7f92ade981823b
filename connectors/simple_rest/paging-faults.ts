import { placeAmong, placeFault } from '#sdk';
import type { OptionFault } from './option-fault.ts';
import type { FailWhen, RestQuery } from './options.ts';
import { pageColumnFaults } from './page-columns.ts';
import { placesOf, stopSigns } from './paging.ts';
import type { RestPaging } from './paging-options.ts';

/** Checks the query's options for paging, and the places of the values that are read from responses. */
export function pagingFaults(query: RestQuery): OptionFault[] {
  const { paging, records, fail_when = [] } = query;
  const fault = (message: string): OptionFault[] => [{ option: 'paging', message }];
  if (paging.kind === 'cursor' && !paging.cursor)
    return fault('of kind cursor requires `cursor`, the place of the cursor in the response');
  if (paging.kind === 'next_link' && !paging.path)
    return fault('of kind next_link requires `path`, the place of the link in the response');
  const bad = placesFaults(query);
  if (bad.length > 0) return bad;
  const columnFaults = pageColumnFaults(query);
  if (columnFaults.length > 0) return columnFaults;
  const mayBeRead = query.format === undefined || query.format === 'json' || query.format === 'xml';
  const isInBody = fail_when.some((one) => placeAmong(placeOf(one), records ?? '').from === 'body');
  if (isInBody && !(mayBeRead && records)) {
    return [
      {
        option: 'fail_when',
        message: 'requires json or xml responses and `records`, or a place such as `header(NAME)`',
      },
    ];
  }
  if (readsBody(query) && !records) {
    return [
      { option: 'records', message: `is required for paging of kind ${paging.kind}: set the path to the records` },
    ];
  }
  if (readsBody(query) && !mayBeRead) {
    return fault(
      `of kind ${paging.kind} requires json or xml responses; with csv and jsonl, use \`header(NAME)\` or \`last_record().column\``,
    );
  }
  return [...kindFaults(query), ...stopFaults(paging)].map((message) => ({ option: 'paging', message }));
}

function placesFaults(query: RestQuery): OptionFault[] {
  const { paging, records = '', fail_when = [], page_columns } = query;
  const faultsIn = (option: string, places: readonly string[]) =>
    places.flatMap((place) => {
      const message = placeFault(place, records);
      return message === undefined ? [] : [{ option, message: `has an unusable place: ${message}` }];
    });
  return [
    ...faultsIn('paging', placesOf(paging)),
    ...faultsIn('fail_when', fail_when.map(placeOf)),
    ...faultsIn('page_columns', Object.values(page_columns)),
  ];
}

function placeOf(given: FailWhen): string {
  return typeof given === 'string' ? given : given.path;
}

/** Whether paging reads values from the response body outside the records, which is possible only with json and xml. */
export function readsBody({ paging, records = '' }: Pick<RestQuery, 'paging' | 'records'>): boolean {
  return placesOf(paging).some((place) => placeAmong(place, records).from === 'body');
}

function kindFaults({ paging, records = '' }: RestQuery): string[] {
  const { kind, missing, next_request: next, cursor = '' } = paging;
  const isFollowed = ['cursor', 'next_link', 'link_header'].includes(kind);
  const isKeyset = kind === 'cursor' && placeAmong(cursor, records).from === 'last_record';
  const rules: [isBroken: boolean, message: string][] = [
    [missing !== undefined && !isFollowed, 'allows `missing` only for the kinds cursor, next_link and link_header'],
    [missing !== undefined && isKeyset, 'allows no `missing` if the cursor is in the last record'],
    [next !== undefined && kind !== 'cursor', 'allows `next_request` only for the kind cursor'],
    [
      next !== undefined && (next.path === undefined) === (next.endpoint_url === undefined),
      'requires either `path` or `endpoint_url` in `next_request`',
    ],
    [
      next?.body !== undefined && /^(?:get|head)$/i.test(next.method ?? 'GET'),
      'allows a `body` in `next_request` only with another method, such as `method: POST`',
    ],
    [
      next !== undefined && !/\{\{[^}]*\bpage\.token\b/.test(JSON.stringify(next)) && paging.parameter === undefined,
      'requires `{{ page.token }}` in `next_request`, or a `parameter` for the cursor',
    ],
  ];
  return rules.flatMap(([isBroken, message]) => (isBroken ? [message] : []));
}

/** Statuses that mean that the request must be sent again or with other credentials, not that there are no more pages. */
const otherStatuses = new Set([401, 403, 407, 408, 425, 429]);

function stopFaults(paging: RestPaging): string[] {
  const signs = stopSigns(paging);
  const isCounted = paging.kind === 'page' || paging.kind === 'offset';
  const other = signs.find((sign) => otherStatuses.has(sign as number));
  const rules: [isBroken: boolean, message: string][] = [
    [signs.length > 0 && paging.kind === 'none', 'of kind none allows no `stop_at`'],
    [signs.includes('short') && !isCounted, 'allows `stop_at: short` only for the kinds page and offset'],
    [signs.includes('short') && isCounted && paging.size === undefined, 'requires `size` for `stop_at: short`'],
    [other !== undefined, `allows no ${other} in \`stop_at\`, because that status does not mean that the pages end`],
  ];
  return rules.flatMap(([isBroken, message]) => (isBroken ? [message] : []));
}
