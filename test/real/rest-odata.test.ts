import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import rest from '../../connectors/simple_rest/index.ts';
import { extractTable } from '../connectors/harness.ts';
import { readRecipes, runRecipe } from '../connectors/simple_rest/cook-book/recipes.ts';
import { startCap } from '../servers/cap.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the packages takes a minute on first use. */
const firstUseMs = 5 * 60_000;
const filter = 'id gt 20';

describeWithWebServer('CAP', 'OData requests to SAP CAP', () => {
  let server: WebServer;
  let folder: string;
  beforeAll(async () => {
    server = await startCap();
    folder = await mkdtemp(join(tmpdir(), 'sluice-cap-'));
  }, firstUseMs);
  afterAll(async () => {
    await server?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  const ids = async (query: Record<string, unknown>) => {
    const scratch = await mkdtemp(join(folder, 'scratch-'));
    const options = { source: { url: server.url }, query: { records: 'value', ...query } };
    const { rows } = await extractTable(rest, { ...options, folder, scratch });
    return rows.map(([id]) => Number(id));
  };

  const paging = { kind: 'offset', parameter: '$skip', size_parameter: '$top', size: 100, stop_at: 'short' };

  it.each<[string, Record<string, unknown>]>([
    ['an encoded filter in the path', { path: '/odata/Items?$filter=id%20gt%2020' }],
    ['a filter with blanks in the path', { path: `/odata/Items?$filter=${filter}` }],
    ['a filter as a parameter', { path: '/odata/Items', parameters: [{ name: '$filter', value: filter }] }],
    ['a filter and paging parameters', { path: '/odata/Items?$filter=id%20gt%2020', paging }],
  ])('the server understands %s', async (_, query) => {
    expect(await ids(query)).toEqual(Array.from({ length: 27 }, (_, i) => 21 + i));
  });

  it('the recipe of the cook book reads all pages', async () => {
    const recipe = (await readRecipes()).find(({ title }) => title.startsWith('OData'))!;
    const scratch = await mkdtemp(join(folder, 'recipe-'));
    const { rows, warnings } = await runRecipe(recipe, { url: server.url, secret: 'any', folder: scratch });
    expect(rows).toEqual(Array.from({ length: 27 }, (_, i) => [String(21 + i), `item ${21 + i}`]));
    expect(warnings).toEqual([]);
  });

  it('the server refuses a plus sign instead of a blank', async () => {
    const problem = ids({ path: '/odata/Items?$filter=id+gt+20' });
    await expect(problem).rejects.toMatchObject({
      code: 'REST_REFUSED',
      seen: expect.stringContaining('Parsing URL failed'),
    });
  });
});
