import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRecipes, runRecipe } from '../connectors/simple_rest/cook-book/recipes.ts';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startJsonApi } from '../servers/jsonapi.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the server takes minutes on first use. */
const firstUseMs = 10 * 60_000;
const all = Array.from({ length: 47 }, (_, i) => i + 1);

describeWithWebServer('jsonapi-server', 'jsonapi-server', () => {
  const { extract, folder } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startJsonApi();
  }, firstUseMs);
  afterAll(() => server?.stop());

  it.each<[string, object]>([
    [
      'links',
      { path: '/rest/items?page[limit]=10', paging: { kind: 'next_link', path: 'links.next', missing: 'end' } },
    ],
    [
      'offsets, until the total',
      {
        path: '/rest/items?page[limit]=10',
        paging: { kind: 'offset', parameter: 'page[offset]', total: 'meta.page.total' },
      },
    ],
  ])('is read by %s', async (_, query) => {
    const read = await extract({ ...query, records: 'data' }, { url: server.url });
    const columns = read.columns.map(({ name }) => name);
    expect(columns).toEqual(['type', 'id', 'attributes.text', 'attributes.total', 'links.self']);
    const self = (id: number) => `${server.url}/rest/items/${id}`;
    expect(read.rows).toEqual(all.map((id) => ['items', String(id), `é "${id}"`, String(id / 4), self(id)]));
    expect(read.warnings).toEqual([]);
  });

  it('the recipe of the cook book joins the included resources', async () => {
    const recipe = (await readRecipes()).find(({ title }) => title === 'JSON:API')!;
    const { columns, rows, warnings } = await runRecipe(recipe, { url: server.url, secret: 'any', folder });
    expect(columns).toEqual(['id', 'total', 'customer_id', 'customer']);
    const customerOf = (id: number) => (id % 3 === 0 ? [null, null] : [String(id % 3), `é "${id % 3}"`]);
    expect(rows).toEqual(all.map((id) => [String(id), String(id / 4), ...customerOf(id)]));
    expect(warnings).toEqual([]);
  });
});
