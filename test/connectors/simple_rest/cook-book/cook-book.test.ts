import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { forgetSecrets } from '../../../../src/lib/redact.ts';
import { TestServer } from '../../http-server.ts';
import { doubles, secret, total } from './doubles.ts';
import { readRecipes, runRecipe } from './recipes.ts';

const recipes = await readRecipes();

it('has a test for every recipe', () => {
  // test/real runs the last two against servers.
  expect(recipes.map(({ title }) => title)).toEqual([...Object.keys(doubles), 'GraphQL', 'JSON:API']);
});

/** A server that responds like an API, and what {@link runRecipe} needs to know about it. */
async function serve(double: (typeof doubles)[string]['double']) {
  const server = await new TestServer().start();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-cook-book-'));
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
    forgetSecrets();
  });
  server.answer = (url, response) => {
    const { method, headers: sent, body: text } = server.requests.at(-1)!;
    const { status = 200, headers, body } = double({ method, url, headers: sent, body: text });
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(body));
  };
  return { server, options: { url: server.url, secret, folder } };
}

const recipeOf = (title: string) => recipes.find((one) => one.title === title)!;

it("reads a resource of each ticket of Zendesk's, from the rows of another job", async () => {
  const { server, options } = await serve(doubles.Zendesk!.double);
  const { columns, rows } = await runRecipe(recipeOf('Zendesk'), { ...options, job: 'comments' });
  expect(columns).toEqual(['ticket_id', 'id']);
  expect(rows).toEqual(Array.from({ length: total }, (_, i) => [`${i + 1}`, `${101 + i}`]));
  expect(server.requests).toHaveLength(3 + total);
});

it.each(Object.entries(doubles))('reads all pages of %s', async (title, { double, column, values }) => {
  const { server, options } = await serve(double);
  const recipe = recipeOf(title);
  const { columns, rows, warnings } = await runRecipe(recipe, options);
  const found = rows.map((row) => row[columns.indexOf(column)]);
  expect([rows.length, found[0], found.at(-1), new Set(found).size]).toEqual([total, ...values, total]);
  expect(warnings).toEqual([]);
  expect(server.requests).toHaveLength(3);
  const lines = recipe.yaml.trimEnd().split('\n');
  expect(lines.length, 'recipes are short').toBeLessThanOrEqual(20);
});
