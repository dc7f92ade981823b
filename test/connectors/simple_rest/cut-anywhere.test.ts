import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import type { Problem } from '../../../src/lib/problem.ts';
import fc, { runsOf } from '../../property.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, extract } = restBench();

const kinds = ['page', 'offset', 'cursor', 'next_link', 'link_header'] as const;

/** What a response contains instead of the expected value. */
const cuts = [
  ...(['none', 'truncated', 'without a length', 'no body', 'a page of html', 'error object'] as const),
  ...(['202', '206', '304', '500', 'missing list', 'null list', 'wrong type', 'empty list'] as const),
  ...(['missing way on', 'object for a way on', 'bad way on', 'back to the first', 'no more'] as const),
  ...(['missing flag', 'larger total', 'smaller total', 'no total', 'the page before'] as const),
] as const;

type Cut = (typeof cuts)[number];

interface Server {
  readonly kind: (typeof kinds)[number];
  /** Number of records, in total and per page. */
  readonly all: number;
  readonly size: number;
  readonly tells: { readonly total: boolean; readonly pages: boolean; readonly more: boolean; readonly last: boolean };
  /** Whether the last page omits the value that leads to the next page. */
  readonly leavesOut: boolean;
  /** Which page is cut, how, and in which of its reads. */
  readonly cut: Cut;
  readonly at: number;
  readonly when: 'first' | 'second' | 'always';
}

interface Job {
  /** Which of the server's fields the job uses. */
  readonly asks: Server['tells'];
  /** A path that is wrong in the job. */
  readonly typo: 'none' | 'way' | 'total' | 'pages' | 'more' | 'last';
  readonly missing: 'end' | 'error' | undefined;
  readonly isShort: boolean;
  readonly isSized: boolean;
}

/** Usually true, because a cut can be detected only if a value is both sent and used. */
const mostly = fc.constantFrom(true, true, false);
const four = { total: mostly, pages: mostly, more: mostly, last: mostly };
/** One in six servers is intact, so that false errors are found too. */
const anyCut = fc.oneof(
  { arbitrary: fc.constant('none' as const), weight: 1 },
  { arbitrary: fc.constantFrom(...cuts), weight: 5 },
);
const servers: fc.Arbitrary<Server> = fc.record({
  kind: fc.constantFrom(...kinds),
  all: fc.integer({ min: 1, max: 23 }),
  size: fc.integer({ min: 2, max: 6 }),
  tells: fc.record(four),
  leavesOut: fc.boolean(),
  cut: anyCut,
  at: fc.nat(5),
  when: fc.constantFrom('first', 'second', 'always'),
});
const jobs: fc.Arbitrary<Job> = fc.record({
  asks: fc.record(four),
  typo: fc.oneof(
    { arbitrary: fc.constant('none' as const), weight: 5 },
    { arbitrary: fc.constantFrom('way', 'total', 'pages', 'more', 'last'), weight: 1 },
  ),
  missing: fc.constantFrom(undefined, 'end', 'error'),
  isShort: fc.boolean(),
  isSized: fc.boolean(),
});

const pagesOf = ({ all, size }: Server) => Math.ceil(all / size);

/** The requested page, from 0. */
function pageOf({ searchParams }: URL, { kind, size }: Server): number {
  if (kind === 'offset') return Math.ceil(Number(searchParams.get('offset')) / size);
  if (kind === 'cursor') return Number((searchParams.get('cursor') ?? 'c0').slice(1));
  return Number(searchParams.get('page') ?? 1) - 1;
}

type Body = Record<string, unknown>;

/** The link to a page; null for none. */
function wayTo(page: number | null, { kind }: Server): string | null {
  if (page === null) return null;
  return kind === 'cursor' ? `c${page}` : `/?page=${page + 1}`;
}

const hasWay = ({ kind }: Server) => kind === 'cursor' || kind === 'next_link';

function bodyOf(page: number, given: Server): Body {
  const { all, size, tells, leavesOut } = given;
  const isLast = page + 1 >= pagesOf(given);
  return {
    rows: ids(page * size, Math.min(all, (page + 1) * size)),
    ...(tells.total ? { total: all } : {}),
    ...(tells.pages ? { pages: pagesOf(given) } : {}),
    ...(tells.more ? { more: !isLast } : {}),
    ...(tells.last ? { last: isLast } : {}),
    ...(hasWay(given) && !(isLast && leavesOut) ? { way: wayTo(isLast ? null : page + 1, given) } : {}),
  };
}

function headersOf(page: number, given: Server): Record<string, string> {
  const json = { 'content-type': 'application/json' };
  const isLast = page + 1 >= pagesOf(given);
  if (given.kind !== 'link_header' || (isLast && given.leavesOut)) return json;
  return { ...json, link: isLast ? '</?page=1>; rel="first"' : `<${wayTo(page + 1, given)}>; rel="next"` };
}

function send(response: ServerResponse, body: unknown, headers: Record<string, string>, status = 200): void {
  response.writeHead(status, headers);
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

/** Sends a page, truncated as the server says. */
function sendCut(response: ServerResponse, page: number, given: Server): void {
  const body = bodyOf(page, given);
  const headers = headersOf(page, given);
  const text = JSON.stringify(body);
  const before = Math.max(0, page - 1);
  const { link: _, ...plain } = headers;
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
  const totals = (more: number) => ({
    ...body,
    ...(given.tells.total ? { total: Math.max(0, given.all + more) } : {}),
    ...(given.tells.pages ? { pages: Math.max(0, pagesOf(given) + more) } : {}),
  });
  const way = (value: unknown) => ({ ...body, ...(hasWay(given) ? { way: value } : {}) });
  const linked = (link: string) => (given.kind === 'link_header' ? { ...headers, link } : headers);
  const answers: Readonly<Record<Cut, () => void>> = {
    none: () => send(response, body, headers),
    truncated: () => {
      response.writeHead(200, { ...headers, 'content-length': text.length });
      response.end(text.slice(0, text.length / 2), () => response.destroy());
    },
    'without a length': () => {
      response.writeHead(200, { ...headers, connection: 'close' });
      response.end(text.slice(0, text.length / 2));
    },
    'no body': () => send(response, undefined, headers),
    'a page of html': () =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>log in</body></html>'),
    'error object': () => send(response, { error: 'no' }, plain),
    '202': () => send(response, body, headers, 202),
    '206': () => send(response, body, { ...headers, 'content-range': `bytes 0-9/${text.length}` }, 206),
    '304': () => send(response, undefined, headers, 304),
    '500': () => send(response, body, headers, 500),
    'missing list': () => send(response, without('rows'), headers),
    'null list': () => send(response, { ...body, rows: null }, headers),
    'wrong type': () => send(response, { ...body, rows: { error: 'no' } }, headers),
    'empty list': () => send(response, { ...body, rows: [] }, headers),
    'missing way on': () => send(response, without('way'), plain),
    'object for a way on': () => send(response, way({ href: wayTo(page + 1, given) }), linked('nonsense')),
    'bad way on': () =>
      send(response, way(given.kind === 'cursor' ? true : 'http://[bad'), linked('<http://[bad>; rel="next"')),
    'back to the first': () => send(response, way(wayTo(0, given)), linked('</?page=1>; rel="next"')),
    'no more': () => send(response, { ...way(null), more: false, last: true }, linked('</?page=1>; rel="first"')),
    'missing flag': () => send(response, without('more', 'last'), headers),
    'larger total': () => send(response, totals(7), headers),
    'smaller total': () => send(response, totals(-2), headers),
    'no total': () => send(response, without('total', 'pages'), headers),
    'the page before': () => send(response, bodyOf(before, given), headersOf(before, given)),
  };
  answers[given.cut]();
}

/** The fields that a job uses, if the server sends them. */
const namesOf = ({ tells }: Server, { asks }: Job) =>
  (['total', 'pages', 'more', 'last'] as const).filter((name) => tells[name] && asks[name]);

function pagingOf(given: Server, job: Job): object {
  const { kind, size } = given;
  const { typo, missing, isShort, isSized } = job;
  const names = namesOf(given, job);
  const place = (name: string) => (typo === name ? `${name}s_` : name);
  const isCounted = kind === 'page' || kind === 'offset';
  return {
    kind,
    ...(kind === 'cursor' ? { cursor: place('way') } : kind === 'next_link' ? { path: place('way') } : {}),
    ...Object.fromEntries(names.map((name) => [name, place(name)])),
    ...(isShort && isSized && isCounted ? { stop_at: 'short' } : {}),
    ...(isSized ? { size, size_parameter: 'n' } : {}),
    ...(missing !== undefined && !isCounted ? { missing } : {}),
  };
}

/**
 * Whether the server's error can't be detected. Either a list is empty, or the pages end early, and the job uses no
 * total that would show it; or a field is missing, and the job says that it may be.
 */
function isHidden(given: Server, job: Job): boolean {
  const { cut, kind } = given;
  const names = namesOf(given, job);
  const isChecked = names.includes('total') && job.typo !== 'total';
  if (isChecked) return false;
  const isCounted = kind === 'page' || kind === 'offset';
  if (cut === 'empty list' || cut === 'no more') return true;
  if (cut === 'smaller total' && names.includes('pages')) return true;
  if (isCounted && job.isShort && job.isSized && cut === 'the page before') return false;
  return (
    job.missing === 'end' && !isCounted && (cut === 'missing way on' || job.typo === 'way' || cut === 'error object')
  );
}

/** Whether the job matches the server, so that it must deliver if nothing is cut. */
function isFit(given: Server, { typo, missing, asks }: Job): boolean {
  const isFollowed = given.kind !== 'page' && given.kind !== 'offset';
  const isEnd = !given.leavesOut || missing === 'end' || !isFollowed;
  return typo === 'none' && isEnd && asks !== undefined;
}

const unique = (rows: readonly (string | null)[][]) => [...new Set(rows.map(([id]) => id))].map((id) => [id]);

it("never delivers a partial result, no matter where and how a server's responses are truncated", {
  timeout: 300_000,
}, async () => {
  let delivered = 0;
  await fc.assert(
    fc.asyncProperty(servers, jobs, async (given, job) => {
      let reads = 0;
      server.answer = (url, response) => {
        const page = pageOf(url, given);
        const isAt = page === given.at % pagesOf(given);
        if (isAt) reads++;
        const isCut = isAt && (given.when === 'always' || reads === (given.when === 'first' ? 1 : 2));
        if (isCut) sendCut(response, page, given);
        else send(response, bodyOf(page, given), headersOf(page, given));
      };
      const query = { records: 'rows', paging: pagingOf(given, job), columns: [{ name: 'id', type: 'integer' }] };
      const outcome = await extract(query, { retries: 0 }).catch((problem: Problem) => problem);
      if ('code' in outcome) {
        const isSound = given.cut === 'none' && isFit(given, job);
        expect(isSound, `${outcome.code} of a server that is not cut`).toBe(false);
        return;
      }
      delivered++;
      const isTold = outcome.warnings.some(({ incomplete }) => incomplete === true);
      if (isTold || isHidden(given, job)) return;
      // A server that once returns to an earlier page sends rows twice; it must not send fewer.
      const rows = given.cut === 'back to the first' ? unique(outcome.rows) : outcome.rows;
      expect(rows).toEqual(numbers(0, given.all));
    }),
    { numRuns: runsOf(600) },
  );
  expect(delivered).toBeGreaterThan(50);
});
