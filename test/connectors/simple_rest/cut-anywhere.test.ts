import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ids, numbers, restBench } from './rig.ts';

const { server, extract } = restBench();

const kinds = ['page', 'offset', 'cursor', 'next_link', 'link_header'] as const;
const cuts = [
  'none',
  'truncated',
  'without a length',
  'missing list',
  'missing way on',
  'null list',
  'error object',
  'wrong type',
  'no body',
  '202',
  '206',
  '304',
  'empty page with a way on',
  'other total',
] as const;

interface Server {
  readonly kind: (typeof kinds)[number];
  /** Records altogether, and on a page. */
  readonly all: number;
  readonly size: number;
  readonly tells: { readonly total: boolean; readonly more: boolean; readonly pages: boolean };
  /** What happens once, or always, to which page. */
  readonly cut: (typeof cuts)[number];
  readonly at: number;
  readonly lasts: boolean;
  /** Whether the job names what the server tells. */
  readonly asks: boolean;
}

const servers: fc.Arbitrary<Server> = fc.record({
  kind: fc.constantFrom(...kinds),
  all: fc.integer({ min: 1, max: 23 }),
  size: fc.integer({ min: 2, max: 6 }),
  tells: fc.record({ total: fc.boolean(), more: fc.boolean(), pages: fc.boolean() }),
  cut: fc.constantFrom(...cuts),
  at: fc.nat(5),
  lasts: fc.boolean(),
  asks: fc.boolean(),
});

/** The page that a request asks for, from 0. */
function pageOf({ searchParams }: URL, { kind, size }: Server): number {
  if (kind === 'offset') return Number(searchParams.get('offset')) / size;
  if (kind === 'cursor') return Number((searchParams.get('cursor') ?? 'c0').slice(1));
  return Number(searchParams.get('page') ?? 1) - 1;
}

function bodyOf(page: number, given: Server): Record<string, unknown> {
  const { kind, all, size, tells } = given;
  const hasMore = (page + 1) * size < all;
  return {
    rows: ids(page * size, Math.min(all, (page + 1) * size)),
    ...(tells.total ? { total: all } : {}),
    ...(tells.pages ? { pages: Math.ceil(all / size) } : {}),
    ...(tells.more ? { more: hasMore } : {}),
    ...(kind === 'cursor' ? { way: hasMore ? `c${page + 1}` : null } : {}),
    ...(kind === 'next_link' ? { way: hasMore ? `/?page=${page + 2}` : null } : {}),
  };
}

function headersOf(page: number, { kind, all, size }: Server): Record<string, string> {
  if (kind !== 'link_header') return {};
  return { link: (page + 1) * size < all ? `</?page=${page + 2}>; rel="next"` : '</?page=1>; rel="first"' };
}

/** Sends a page that is cut as the server says. */
function sendCut(response: ServerResponse, page: number, given: Server): void {
  const body = bodyOf(page, given);
  const headers = { 'content-type': 'application/json', ...headersOf(page, given) };
  const send = (value: unknown, more: { status?: number; headers?: Record<string, string> } = {}) => {
    response.writeHead(more.status ?? 200, { ...headers, ...more.headers });
    response.end(value === undefined ? undefined : JSON.stringify(value));
  };
  const text = JSON.stringify(body);
  const { rows, way, ...rest } = body;
  const { link: _, ...plain } = headers as Record<string, string>;
  switch (given.cut) {
    case 'truncated':
      response.writeHead(200, { ...headers, 'content-length': text.length });
      response.end(text.slice(0, text.length / 2), () => response.destroy());
      return;
    case 'without a length':
      response.writeHead(200, { ...headers, connection: 'close' });
      response.end(text.slice(0, text.length / 2));
      return;
    case 'missing list':
      send({ ...rest, way });
      return;
    case 'missing way on':
      response.writeHead(200, plain);
      response.end(JSON.stringify({ rows, ...rest }));
      return;
    case 'null list':
      send({ ...body, rows: null });
      return;
    case 'error object':
      send({ error: 'no' });
      return;
    case 'wrong type':
      send({ ...body, rows: { error: 'no' } });
      return;
    case 'no body':
      send(undefined);
      return;
    case '202':
      send(body, { status: 202 });
      return;
    case '206':
      send(body, { status: 206, headers: { 'content-range': `bytes 0-9/${text.length}` } });
      return;
    case '304':
      send(undefined, { status: 304 });
      return;
    case 'empty page with a way on':
      send({ ...body, rows: [] });
      return;
    case 'other total':
      send({ ...body, ...(given.tells.total ? { total: given.all + 7 } : {}) });
      return;
    default:
      send(body);
      return;
  }
}

function pagingOf({ kind, tells, asks, size }: Server): object {
  const way = kind === 'cursor' ? { cursor: 'way' } : kind === 'next_link' ? { path: 'way' } : {};
  const named = Object.entries(tells).filter(([, isTold]) => isTold && asks);
  return { kind, ...way, ...Object.fromEntries(named.map(([name]) => [name, name])), size, size_parameter: 'n' };
}

/** A list that is empty though it should not be: unless a total is told and asked for, nothing shows that it was cut. */
function isHidden({ cut, asks, tells }: Server): boolean {
  return cut === 'empty page with a way on' && !(asks && tells.total);
}

it('never delivers a part, wherever and however the answers of a server are cut', { timeout: 300_000 }, async () => {
  let delivered = 0;
  await fc.assert(
    fc.asyncProperty(servers, async (given) => {
      let cuts = 0;
      server.answer = (url, response) => {
        const page = pageOf(url, given);
        const isCut = page === given.at % Math.ceil(given.all / given.size) && (given.lasts || cuts++ === 0);
        if (isCut) sendCut(response, page, given);
        else {
          response.writeHead(200, { 'content-type': 'application/json', ...headersOf(page, given) });
          response.end(JSON.stringify(bodyOf(page, given)));
        }
      };
      const query = { records: 'rows', paging: pagingOf(given), columns: [{ name: 'id', type: 'integer' }] };
      const outcome = await extract(query, { retries: 0 }).catch(() => undefined);
      if (outcome === undefined) {
        expect(given.cut, 'the cut of a server that is refused').not.toBe('none');
        return;
      }
      delivered++;
      if (outcome.warnings.some(({ code }) => code === 'REST_TOTAL_CHANGED') || isHidden(given)) return;
      expect(outcome.rows).toEqual(numbers(0, given.all));
    }),
    { numRuns: Number(process.env.SLUICE_CUT_RUNS ?? 250) },
  );
  expect(delivered).toBeGreaterThan(10);
});
