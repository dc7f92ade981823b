import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startFastApi } from '../servers/fastapi.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the server takes minutes on first use. */
const firstUseMs = 10 * 60_000;
const all = Array.from({ length: 47 }, (_, i) => i + 1);

describeWithWebServer('FastAPI', 'FastAPI with fastapi-pagination', () => {
  const { extract, failure } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startFastApi();
  }, firstUseMs);
  afterAll(() => server?.stop());
  const rows = all.map((id) => [String(id), String(10n ** 20n + BigInt(id)), `é "${id}"`]);

  it.each<[string, object]>([
    ['page numbers until the last page', { path: '/pages?size=10', paging: { kind: 'page', pages: 'pages' } }],
    ['page numbers until the total', { path: '/pages?size=10', paging: { kind: 'page', total: 'total' } }],
    ['offsets', { path: '/offsets?limit=10', paging: { kind: 'offset', total: 'total' } }],
    ['relative links', { path: '/links?limit=10', paging: { kind: 'next_link', path: 'links.next' } }],
    ['a stream of JSON lines', { path: '/lines' }],
  ])('is read by %s', async (_, query) => {
    const records = 'path' in query && query.path === '/lines' ? {} : { records: 'items' };
    const read = await extract({ ...query, ...records }, { url: server.url });
    expect(read.columns).toEqual([
      { name: 'id', type: 'integer' },
      { name: 'big', type: 'integer' },
      { name: 'text', type: 'text' },
    ]);
    expect(read.rows).toEqual(rows);
    expect(read.warnings).toEqual([]);
  });

  it("isn't taken for complete if only its first page is read", async () => {
    const { warnings, rows } = await extract({ path: '/links?limit=10', records: 'items' }, { url: server.url });
    expect(rows).toHaveLength(10);
    expect(warnings).toHaveLength(1);
  });

  it('refuses a parameter with its own words', async () => {
    const refused = await failure({ path: '/pages?size=1000', records: 'items' }, { url: server.url });
    expect(refused).toMatchObject({
      code: 'REST_REFUSED',
      seen: expect.stringContaining('less than or equal to 100'),
    });
  });
});
