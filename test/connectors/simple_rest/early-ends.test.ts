import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ids, numbers, restBench } from './rig.ts';

const { server, extract, failure } = restBench();

type Query = Record<string, unknown>;

const cursor = (place: string, more: object = {}) => ({ kind: 'cursor', cursor: place, parameter: 'page', ...more });

/** Every way to reach the next of three pages. */
const pagings: readonly (readonly [name: string, query: Query])[] = [
  ['page', { paging: { kind: 'page', pages: 'meta.pages', total: 'meta.total' } }],
  ['page with a flag', { paging: { kind: 'page', more: 'meta.more', total: 'meta.total' } }],
  ['page with counts in headers', { paging: { kind: 'page', total: 'header(X-Total)' } }],
  ['page with a status after the last one', { paging: { kind: 'page', stop_at: 404, total: 'meta.total' } }],
  ['offset', { paging: { kind: 'offset', total: 'meta.total' } }],
  ['cursor', { paging: cursor('meta.next', { total: 'meta.total' }) }],
  ['cursor in a header', { paging: cursor('header(X-Next)', { total: 'header(X-Total)' }) }],
  ['cursor in json in a header', { paging: cursor('header(X-Pagination).next', { total: 'meta.total' }) }],
  [
    'cursor in the last record',
    { paging: { kind: 'cursor', cursor: 'last_record().id', parameter: 'after', total: 'meta.total' } },
  ],
  [
    'cursor in a body',
    {
      method: 'POST',
      body: { at: '{{ page.token }}' },
      paging: { kind: 'cursor', cursor: 'meta.token', total: 'meta.total' },
    },
  ],
  [
    'another request for later pages',
    {
      paging: {
        kind: 'cursor',
        cursor: 'meta.next',
        total: 'meta.total',
        next_request: { path: '/?page={{ page.token }}' },
      },
    },
  ],
  ['next link', { paging: { kind: 'next_link', path: 'links[0].href', total: 'meta.total' } }],
  [
    'next link by its relation',
    { paging: { kind: 'next_link', path: "links[?@.rel=='next'].href", total: 'meta.total' } },
  ],
  ['Link header', { paging: { kind: 'link_header', total: 'header(x-total)' } }],
];

interface Answer {
  meta: Record<string, unknown>;
  links: unknown;
  rows: unknown;
}

function send(response: ServerResponse, body: string, headers: Record<string, string> = {}, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** Serves three pages of three records. `spoil` answers the second page in another way. */
function serve(spoil?: (response: ServerResponse, answer: Answer, headers: Record<string, string>) => void): void {
  server.answer = ({ searchParams }, response) => {
    const { body } = server.requests.at(-1)!;
    const token = body === '' ? undefined : (JSON.parse(body) as { at?: { p: number } }).at?.p;
    const [after, offset] = [searchParams.get('after'), searchParams.get('offset')];
    const asked = after === null ? (offset === null ? undefined : Number(offset) / 3 + 1) : Number(after) / 3 + 1;
    const page = asked ?? token ?? Number(searchParams.get('page') ?? 1);
    if (page > 3 && searchParams.has('page')) return send(response, '{"detail":"none"}', {}, 404);
    const next = page < 3 ? page + 1 : null;
    const answer = {
      meta: { total: 9, pages: 3, next, more: next !== null, token: next === null ? null : { p: next } },
      links: [{ rel: next === null ? 'self' : 'next', href: next === null ? null : `/?page=${next}` }],
      rows: ids(page * 3 - 2, page > 3 ? 0 : page * 3 + 1),
    };
    const headers = {
      'x-total': '9',
      'x-next': String(next ?? ''),
      'x-pagination': JSON.stringify({ next }),
      link: next === null ? '</?page=1>; rel="first"' : `</?page=${next}>; rel="next"`,
    };
    if (page === 2 && spoil !== undefined) return spoil(response, answer, headers);
    send(response, JSON.stringify(answer), headers);
  };
}

/** Everything that says where the next page is, emptied. */
const ended = { 'x-next': '', 'x-pagination': '{"next":null}', link: '</?page=1>; rel="first"' };

const spoils: readonly (readonly [name: string, spoil: NonNullable<Parameters<typeof serve>[0]>])[] = [
  [
    'says that it is the last one',
    (response, { meta, rows }) =>
      send(
        response,
        JSON.stringify({
          meta: { ...meta, next: null, token: null, more: false, pages: 3 },
          links: [{ rel: 'self', href: null }],
          rows: (rows as object[]).slice(0, 2),
        }),
        { ...ended, 'x-total': '9' },
      ),
  ],
  [
    'has no records',
    (response, { meta }, headers) =>
      send(response, JSON.stringify({ meta: { ...meta, next: null, token: null, more: false }, links: [], rows: [] }), {
        ...headers,
        ...ended,
      }),
  ],
  [
    'has null instead of records',
    (response, answer, headers) => send(response, JSON.stringify({ ...answer, rows: null }), headers),
  ],
  ['has an error instead of records', (response, _, headers) => send(response, '{"error":"quota"}', headers)],
  ['is empty', (response) => response.writeHead(204).end()],
  [
    'is an HTML page',
    (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('<html>down</html>'),
  ],
  ['is cut', (response, answer, headers) => send(response, JSON.stringify(answer).slice(0, -20), headers)],
  ['is lost', (response) => response.destroy()],
  ['is an error', (response) => response.writeHead(500).end()],
  ['is refused', (response) => response.writeHead(400).end()],
  ['does not exist', (response) => response.writeHead(404).end()],
  ['is accepted but not ready', (response) => response.writeHead(202).end()],
  ['is not modified', (response) => response.writeHead(304).end()],
];

describe.each(pagings)('paging by %s', (_, query) => {
  const all = { records: 'rows', ...query };

  it('reads all pages', async () => {
    serve();
    expect((await extract(all)).rows).toEqual(numbers(1, 10));
  });

  it.each(spoils)('fails if the second page %s', async (_name, spoil) => {
    serve(spoil);
    const problem = await failure(all, { retries: 0 });
    expect(problem.code).toMatch(/^(?:REST|JSON|RECORDS)_/);
  });
});
