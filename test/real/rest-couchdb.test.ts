import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startPouchDb } from '../servers/pouchdb.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the server takes minutes on first use. */
const firstUseMs = 10 * 60_000;
const all = Array.from({ length: 47 }, (_, i) => i + 1);

const keyOf = (n: number) => `k${String(n).padStart(2, '0')}`;

describeWithWebServer('pouchdb-server', "pouchdb-server, which speaks CouchDB's protocol", () => {
  const { extract, failure } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startPouchDb();
    const docs = all.map((n) => ({ _id: keyOf(n), n: n / 4, text: `é "${n}"` }));
    await send('PUT', '/items');
    await send('POST', '/items/_bulk_docs', { docs });
  }, firstUseMs);
  afterAll(() => server?.stop());

  async function send(method: string, path: string, body?: object): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(`${server.url}${path}`, init);
    expect(response.status).toBe(201);
    await response.body?.cancel();
  }

  const find = { path: '/items/_find', method: 'POST', records: 'docs' };
  const selector = { _id: { $gt: null } };

  it.each<[string, object]>([
    [
      'offsets in the body',
      { ...find, body: { selector, limit: 10, skip: '{{ page.offset }}' }, paging: { kind: 'offset' } },
    ],
    [
      'the last key in the body',
      {
        ...find,
        body: { selector: { _id: { $gt: '{{ page.token | default: 0 }}' } }, sort: ['_id'], limit: 10 },
        paging: { kind: 'cursor', cursor: 'last_record()._id' },
      },
    ],
  ])('is read by %s', async (_, query) => {
    const { columns, rows } = await extract(query as Record<string, unknown>, { url: server.url });
    const names = columns.map(({ name }) => name);
    const cells = (row: readonly (string | null)[]) => ['_id', 'n', 'text'].map((name) => row[names.indexOf(name)]);
    expect(rows.map(cells)).toEqual(all.map((n) => [keyOf(n), String(n / 4), `é "${n}"`]));
  });

  it('is read by the last key in the query string', async () => {
    const query = {
      path: '/items/_all_docs?include_docs=true&limit=10',
      parameters: [{ name: 'startkey', value: '"{{ page.token }}\\ufff0"' }],
      records: 'rows',
      paging: { kind: 'cursor', cursor: 'last_record().id' },
    };
    const { columns, rows } = await extract(query, { url: server.url });
    const at = columns.findIndex(({ name }) => name === 'doc.text');
    expect(rows.map((row) => row[at])).toEqual(all.map((n) => `é "${n}"`));
  });

  it("isn't taken for complete if it returns no bookmark", async () => {
    const query = {
      ...find,
      body: { selector, limit: 10, bookmark: '{{ page.token }}' },
      paging: { kind: 'cursor', cursor: 'bookmark' },
    };
    expect(await failure(query, { url: server.url })).toMatchObject({ code: 'REST_NO_WAY_ON' });
  });
});
