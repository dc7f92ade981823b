import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startJsonServer } from '../servers/json-server.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the server takes minutes on first use. */
const firstUseMs = 10 * 60_000;
const all = Array.from({ length: 47 }, (_, i) => i + 1);

describeWithWebServer('json-server', 'json-server', () => {
  const { extract } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startJsonServer({ items: all.map((id) => ({ id, tags: { first: `é "${id}"` } })) });
  }, firstUseMs);
  afterAll(() => server?.stop());

  it.each<[string, object]>([
    ['a Link header', { path: '/items?_page=1', paging: { kind: 'link_header' } }],
    ['page numbers', { path: '/items?_limit=10', paging: { kind: 'page', parameter: '_page' } }],
    [
      'offsets and a total in a header',
      { path: '/items?_limit=10', paging: { kind: 'offset', parameter: '_start', total: 'header(X-Total-Count)' } },
    ],
  ])('is read by %s', async (_, query) => {
    const { rows } = await extract(query as Record<string, unknown>, { url: server.url });
    expect(rows).toEqual(all.map((id) => [String(id), `é "${id}"`]));
  });

  it('is read one parent at a time', async () => {
    const query = { for_each: { values: [1, 47, 48], missing: 'skip' }, path: '/items/{{ parent.value }}' };
    expect((await extract(query, { url: server.url })).rows.map(([id]) => id)).toEqual(['1', '47']);
  });
});
