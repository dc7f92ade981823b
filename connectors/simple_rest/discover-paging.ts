import { type HttpResponse, isObject, signPlaces, textOf, valueAt } from '#sdk';
import { keyIn, pathText, relations } from './discover-records.ts';
import { totalIn } from './more-pages.ts';
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
  readonly headers: HttpResponse['headers'];
  /** The records in the response. */
  readonly records: readonly unknown[];
  /** xml: the name of the root element. */
  readonly root: string | undefined;
}

/** Likely ways to request the next page, best first. */
export function pagingCandidates(document: unknown, context: PagingContext): readonly PagingCandidate[] {
  const { link, headers, root } = context;
  const header: readonly PagingCandidate[] =
    link === undefined ? [] : [{ paging: { kind: 'link_header' }, isTold: true, page: {}, link }];
  return [
    ...header,
    ...signPlaces.flatMap((place) => toldAt(document, within(root, place))),
    ...linkLists(document, []),
    ...toldInHeaders(headers),
    ...keysets(document, context),
    ...counted(document, context),
  ];
}

/** A common place as a place in a document with this root element. */
function within(root: string | undefined, place: string): string {
  return root === undefined ? place : `${root}.${place}`;
}

const isAddress = (text: string): boolean => /^(?:https?:\/\/|[/?])/.test(text);

function toldAt(document: unknown, place: string): PagingCandidate[] {
  const value = valueAt(document, place);
  const [path, inner] = isObject(value) ? [`${place}.href`, value.href] : [place, value];
  const text = typeof inner === 'boolean' ? undefined : textOf(inner);
  if (text === undefined || /^(?:true|false)?$/.test(text)) return [];
  if (isAddress(text)) return [{ paging: { kind: 'next_link', path }, isTold: true, page: {}, link: text }];
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

const maxDepth = 2;
/** Names of a link's URL in lists of links. */
const targets = ['href', 'url', 'uri', '@href'];

/** Lists of links that contain the link to the next page. */
function linkLists(value: unknown, steps: readonly string[]): PagingCandidate[] {
  // In xml, a list with a single link is an object.
  const isLink = isObject(value) && relations.some((name) => typeof value[name] === 'string');
  if (Array.isArray(value) || isLink) {
    const next = [value].flat().find((one) => isObject(one) && relations.some((name) => one[name] === 'next'));
    const relation = relations.find((name) => next?.[name] === 'next');
    const target = targets.find((name) => typeof next?.[name] === 'string');
    if (relation === undefined || target === undefined) return [];
    const path = `${pathText(steps)}[?@.${relation}=='next'].${target}`;
    return [{ paging: { kind: 'next_link', path }, isTold: true, page: {}, link: String(next[target]) }];
  }
  if (!isObject(value) || steps.length >= maxDepth) return [];
  return Object.entries(value).flatMap(([name, inner]) => linkLists(inner, [...steps, name]));
}

/** Common headers with the next page's number or token, and the query parameter that sends it. */
const headerNames: readonly (readonly [string, string])[] = [
  ['X-Next-Page', 'page'],
  ['X-Next-Cursor', 'cursor'],
  ['X-Next-Token', 'token'],
];

function toldInHeaders(headers: HttpResponse['headers']): PagingCandidate[] {
  return headerNames.flatMap(([name, parameter]) => {
    const token = [headers[name.toLowerCase()] ?? []].flat().join();
    const paging: RestPaging = { kind: 'cursor', cursor: `header(${name})`, parameter };
    return token === '' ? [] : [{ paging, isTold: true, page: { token } }];
  });
}

const moreFlags = ['has_more', 'hasMore', 'meta.has_more', 'paging.has_more', 'pagination.has_more'];

/** If a flag says that there are more pages but there's no cursor, the last record's ID often is the cursor. */
function keysets(document: unknown, { records, root }: PagingContext): PagingCandidate[] {
  const flags = moreFlags.map((place) => within(root, place));
  const more = flags.find((place) => textOf(valueAt(document, place)) === 'true');
  const key = keyIn(records);
  const last = records.at(-1);
  if (more === undefined || key === undefined || !isObject(last)) return [];
  const path = pathText([key]);
  const cursor = path.startsWith('$') ? `last_record()${path.slice(1)}` : `last_record().${path}`;
  return ['starting_after', 'after'].map((parameter) => ({
    paging: { kind: 'cursor', cursor, parameter, more },
    isTold: false,
    page: { token: textOf(last[key]) },
  }));
}

/**
 * If the total is greater than the number of records in this response, there are more records. The total alone doesn't
 * show how to request them.
 */
function counted(document: unknown, { headers, records, root }: PagingContext): PagingCandidate[] {
  if (records.length === 0) return [];
  const reported = totalIn((place) => valueAt(document, within(root, place)), headers, records.length);
  const isInBody = reported !== undefined && !reported.place.startsWith('header(');
  const stop = reported === undefined ? {} : { total: isInBody ? within(root, reported.place) : reported.place };
  const page: PagingCandidate = {
    paging: { kind: 'page', parameter: 'page', ...stop },
    isTold: false,
    page: { number: 2 },
  };
  const offset: PagingCandidate = {
    paging: { kind: 'offset', parameter: 'offset', ...stop },
    isTold: false,
    page: { offset: records.length },
  };
  return reported === undefined ? [page] : [page, offset];
}
