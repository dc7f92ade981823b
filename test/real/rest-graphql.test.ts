import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRecipes, runRecipe } from '../connectors/simple_rest/cook-book/recipes.ts';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { reportMissing } from '../servers/describe.ts';
import { hasVenv } from '../servers/python-venv.ts';
import { type RestApi, startFrameworks } from '../servers/rest-apis.ts';

const title = 'a GraphQL server';

if (!hasVenv()) reportMissing(title, ['Python with venv'], 'python3-venv');
else
  describe(title, () => {
    const { folder, failure } = restBench();
    let api: RestApi | undefined;
    beforeAll(async () => {
      api = await startFrameworks();
    }, 600_000);
    afterAll(() => api?.stop());

    it('the recipe of the cook book reads all pages, with all digits', async () => {
      const recipe = (await readRecipes()).find((one) => one.title === 'GraphQL')!;
      const { columns, rows, warnings } = await runRecipe(recipe, { url: api!.url, secret: 'any', folder });
      expect(columns).toEqual(['id', 'big', 'text']);
      const expected = Array.from({ length: 47 }, (_, i) => i + 1);
      expect(rows).toEqual(expected.map((n) => [String(n), String(10n ** 20n + BigInt(n)), `é "${n}"`]));
      expect(warnings).toEqual([]);
    });

    it('errors fail the run although the status is 200, on the first page and on a later one', async () => {
      const query = (fields: string, breaks: boolean) => ({
        path: '/graphql/',
        method: 'POST',
        body: {
          query: `query ($after: String) { orders(first: 20, after: $after, breaks: ${breaks}) { ${fields} } }`,
          variables: { after: '{{ page.token }}' },
        },
        records: 'data.orders.nodes',
        paging: { kind: 'cursor', cursor: 'data.orders.pageInfo.endCursor', more: 'data.orders.pageInfo.hasNextPage' },
      });
      const page = 'nodes { id } pageInfo { endCursor hasNextPage }';
      expect(await failure(query(page, true), { url: api!.url, retries: 0 })).toMatchObject({
        code: 'REST_ANSWER_ERROR',
        seen: 'The database is gone',
      });
      expect(await failure(query(`${page} price`, false), { url: api!.url, retries: 0 })).toMatchObject({
        code: 'REST_ANSWER_ERROR',
        seen: expect.stringContaining("Cannot query field 'price'"),
      });
    });
  });
