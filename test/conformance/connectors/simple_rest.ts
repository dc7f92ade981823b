import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { hostileNames, hostileValues, type World } from '#sdk/testing';
import { sendJson, TestServer } from '../../connectors/http-server.ts';
import { freePort } from '../../servers/free-port.ts';

const token = 'rest-token-81fa';
const [pages, perPage] = [34, 400];

const world: World = {
  async open() {
    const server = await new TestServer().start();
    server.answer = (url, response, number) => {
      const { authorization } = server.requests[number - 1]!.headers;
      if (authorization !== `Bearer ${token}`) return refuse(response);
      if (url.pathname === '/changing')
        return changing(server.requests[number - 1]!.headers['if-none-match'], response);
      const answer = answers[url.pathname];
      if (answer === undefined) return refuse(response, 404);
      return answer(url, response);
    };
    const port = await freePort();
    return {
      source: { url: server.url, auth: { kind: 'bearer', token }, retries: 0 },
      query: { path: '/orders', records: 'data.items' },
      columns: [
        { name: 'id', type: 'integer' },
        { name: 'paid', type: 'decimal' },
        { name: 'by.name', type: 'text' },
      ],
      rows: [
        ['1', '1.50', 'Ann'],
        ['2', null, 'Böð'],
      ],
      secrets: [token],
      refused: [
        { query: { path: '/x', endpoint_url: 'http://x.example' }, option: 'endpoint_url' },
        { query: { paging: { kind: 'sideways' } }, option: 'paging' },
        { source: { auth: { kind: 'bearer' } }, option: 'auth' },
        { source: { url: 'ftp://x' }, option: 'url' },
      ],
      credentials: { source: { auth: { kind: 'bearer', token: 'wrong-token-55' } } },
      unreachable: { source: { url: `http://127.0.0.1:${port}` } },
      hostile: { query: { path: '/hostile', records: undefined } },
      many: { query: { path: '/many', records: undefined, paging: { kind: 'page' } }, rows: pages * perPage },
      resume: {
        query: { path: '/changing', records: 'data', conditional: true },
        grow: async () => {
          changes += 1;
          return [[String(2 + changes), null, null]];
        },
        // Changed data is sent in full.
        repeated: 3,
      },
      close: () => server.stop(),
    };
  },
};
export default world;

function refuse(response: ServerResponse, status = 401): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end('{"error": "no"}');
}

/** Rows added after the first check. */
let changes = 0;

function changing(known: string | undefined, response: ServerResponse): void {
  const etag = `"v${changes}"`;
  if (known === etag) {
    response.writeHead(304, { etag }).end();
    return;
  }
  const more = Array.from({ length: changes }, (_, i) => `, {"id": ${i + 3}}`).join('');
  sendJson(response, `{"data": [{"id": 1, "paid": 1.50, "by": {"name": "Ann"}}, {"id": 2}${more}]}`, { etag });
}

type Answer = (url: URL, response: ServerResponse) => void;

const answers: Readonly<Record<string, Answer>> = {
  '/': (_, response) => sendJson(response, {}),
  '/orders': (_, response) =>
    sendJson(
      response,
      '{"data": {"items": [{"id": 1, "paid": 1.50, "by": {"name": "Ann"}}, {"id": 2, "by": {"name": "Böð"}}]}, "meta": {"next": null}}',
    ),
  '/hostile': (_, response) => {
    const record = (value: string) => Object.fromEntries(hostileNames.map((name) => [name, value]));
    sendJson(response, hostileValues.map(record));
  },
  '/many': (url, response) => {
    const page = Number(url.searchParams.get('page'));
    response.writeHead(200, { 'content-type': 'application/json' });
    Readable.from(page > pages ? ['[]'] : records(page)).pipe(response);
  },
};

function* records(page: number): Generator<string> {
  for (let i = 0; i < perPage; i++) {
    const record = { id: page * perPage + i, name: `name ${i}`, note: 'note '.repeat(240) };
    yield `${i === 0 ? '[' : ','}${JSON.stringify(record)}`;
  }
  yield ']';
}
