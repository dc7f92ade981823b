import type { ServerResponse } from 'node:http';
import { sendJson, type TestServer } from '../connectors/http-server.ts';
import { ids } from '../connectors/simple_rest/rig.ts';

/** The number of records of most routes, and the number on each page. */
export const total = 47;
const size = 10;

interface Asked {
  readonly url: URL;
  readonly query: URLSearchParams;
  readonly body: Record<string, never>;
  readonly response: ServerResponse;
}
type Route = (asked: Asked) => void;

const from = (start: number, count = size): { id: number }[] => ids(start + 1, Math.min(start + count, total) + 1);
const notFound = (response: ServerResponse): void => {
  response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"not found"}');
};
const numberOf = (value: unknown, otherwise: number): number => Number(value ?? otherwise);
const nextOf = (start: number): string | null => (start + size < total ? String(start + size) : null);
const linkTo = ({ url }: Asked, start: number): string | null =>
  nextOf(start) && `${url.origin}${url.pathname}?start=${start + size}`;
const startOf = ({ query }: Asked): number => numberOf(query.get('start'), 0);

const accounts = [
  { id: 1, name: 'one' },
  { id: 2, name: 'two' },
];

/** Routes that have the habits of well-known APIs. */
const routes: Readonly<Record<string, Route>> = {
  '/page': ({ query, response }) => {
    const data = from((numberOf(query.get('page'), 1) - 1) * size);
    sendJson(response, { data, pages: Math.ceil(total / size) });
  },
  '/offset': ({ query, response }) => sendJson(response, { data: from(numberOf(query.get('offset'), 0)), total }),
  '/cursor': (asked) => sendJson(asked.response, { data: from(startOf(asked)), next: nextOf(startOf(asked)) }),
  '/next': (asked) => sendJson(asked.response, { data: from(startOf(asked)), next: linkTo(asked, startOf(asked)) }),
  '/link-header': (asked) => {
    const url = linkTo(asked, startOf(asked));
    const link = [`<${asked.url.origin}/link-header>; rel="first"`, ...(url === null ? [] : [`<${url}>; rel="next"`])];
    sendJson(asked.response, from(startOf(asked)), { link: link.join(', ') });
  },
  '/body': ({ body, response }) => sendJson(response, { data: from((numberOf(body.page, 1) - 1) * size) }),
  '/keyset': ({ query, response }) => {
    const data = from(numberOf(query.get('starting_after'), 0));
    sendJson(response, { data, has_more: (data.at(-1)?.id ?? total) < total });
  },
  '/cursor-header': (asked) => {
    const next = nextOf(startOf(asked));
    sendJson(asked.response, from(startOf(asked)), next === null ? {} : { 'x-next-cursor': next });
  },
  '/empty-cursor-header': (asked) => {
    sendJson(asked.response, from(startOf(asked)), { 'x-next-cursor': nextOf(startOf(asked)) ?? '' });
  },
  '/links': (asked) => {
    const url = linkTo(asked, startOf(asked));
    const links = [{ rel: 'self', href: String(asked.url) }, ...(url === null ? [] : [{ rel: 'next', href: url }])];
    sendJson(asked.response, { data: from(startOf(asked)), links });
  },
  '/pages-header': ({ query, response }) => {
    const page = numberOf(query.get('page'), 1);
    const pages = Math.ceil(total / size);
    if (page > pages) return notFound(response);
    sendJson(response, from((page - 1) * size), { 'x-total-pages': String(pages) });
  },
  '/not-found': ({ query, response }) => {
    const data = from((numberOf(query.get('page'), 1) - 1) * size);
    if (data.length === 0) notFound(response);
    else sendJson(response, { data });
  },
  '/scroll/start': ({ response }) => sendJson(response, { data: from(0), scroll: '10' }),
  '/scroll/next': ({ body, response }) => {
    const start = numberOf(body.scroll, 0);
    sendJson(response, { data: from(start), scroll: String(start + size) });
  },
  '/accounts': ({ response }) => sendJson(response, { data: accounts }),
  '/accounts/1/orders': ({ response }) => sendJson(response, { data: ids(1, 3) }),
  '/accounts/2/orders': ({ response }) => sendJson(response, { data: ids(3, 4) }),
  '/orders': ({ response }) =>
    sendJson(response, {
      orders: [
        { id: 'a', lines: ids(1, 3) },
        { id: 'b', lines: ids(3, 4) },
      ],
    }),
  '/map': ({ response }) => sendJson(response, { items: { k1: { id: 1 }, k2: { id: 2 } } }),
  '/since': ({ query, response }) =>
    sendJson(response, { data: ids(1, 5).filter(({ id }) => id > numberOf(query.get('since') || undefined, 0)) }),
  '/twice': ({ query, response }) => {
    const page = numberOf(query.get('page'), 1);
    sendJson(response, { data: page > 3 ? [] : from(Math.min(page - 1, 1) * size) });
  },
  '/elsewhere': (asked) => {
    const { port } = asked.url;
    const next = startOf(asked) === 0 ? `http://localhost:${port}/elsewhere?start=10` : null;
    sendJson(asked.response, { data: from(startOf(asked)), next });
  },
  '/accepted': ({ response }) => {
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"queued"}');
  },
  '/error': ({ response }) => sendJson(response, { data: [], errors: [{ message: 'timeout' }] }),
  '/integers': ({ response }) => sendJson(response, '{"data":[{"id":9007199254740993},{"id":-9223372036854775808}]}'),
  '/large': ({ response }) => sendJson(response, '{"data":[{"id":123456789012345678901234567890}]}'),
  '/decimals': ({ response }) => sendJson(response, '{"data":[{"id":0.12345678901234567890},{"id":10.10}]}'),
  '/csv': ({ response }) => response.writeHead(200, { 'content-type': 'text/csv' }).end('id\n1\n2\n'),
  '/xml': ({ response }) =>
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end('<r><row><id>1</id></row><row><id>2</id></row></r>'),
  '/empty-password': ({ response }) => sendJson(response, { data: ids(1, 2) }),
};

/** Makes a server answer these routes. */
export function serveHabits(server: TestServer): void {
  server.answer = (url, response, number) => {
    const { body, headers } = server.requests[number - 1]!;
    const route = routes[url.pathname];
    if (route === undefined) return notFound(response);
    if (url.pathname === '/empty-password' && headers.authorization !== `Basic ${btoa('key:')}`)
      return notFound(response);
    route({ url, query: url.searchParams, body: body === '' ? {} : JSON.parse(body), response });
  };
}
