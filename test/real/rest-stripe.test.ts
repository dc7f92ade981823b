import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRecipes, runRecipe } from '../connectors/simple_rest/cook-book/recipes.ts';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startStripeMock } from '../servers/stripe-mock.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Compiling the server takes a minute on first use. */
const firstUseMs = 10 * 60_000;

describeWithWebServer('stripe-mock', 'the recipe for Stripe', () => {
  const { folder } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startStripeMock();
  }, firstUseMs);
  afterAll(() => server?.stop());

  it('logs in and reads the charges', async () => {
    const recipe = (await readRecipes()).find(({ title }) => title === 'Stripe')!;
    const { columns, rows, warnings } = await runRecipe(recipe, { url: server.url, secret: 'sk_test_123', folder });
    expect(rows).toHaveLength(1);
    expect(rows[0]![columns.indexOf('id')]).toMatch(/^ch_/);
    expect(rows[0]![columns.indexOf('object')]).toBe('charge');
    expect(warnings).toEqual([]);
  });
});
