import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRecipes, runRecipe } from '../connectors/simple_rest/cook-book/recipes.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startHapiFhir } from '../servers/fhir.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Downloading the jars takes a minute on first use. */
const firstUseMs = 5 * 60_000;
const all = Array.from({ length: 47 }, (_, i) => i + 1);

describeWithWebServer('HAPI FHIR', 'HAPI FHIR', () => {
  let server: WebServer;
  let folder: string;
  beforeAll(async () => {
    server = await startHapiFhir();
    folder = await mkdtemp(join(tmpdir(), 'sluice-fhir-'));
  }, firstUseMs);
  afterAll(async () => {
    await server?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it("is read by the cook book's recipe, from bundle to bundle", async () => {
    const recipe = (await readRecipes()).find(({ title }) => title === 'FHIR')!;
    const { columns, rows, warnings } = await runRecipe(recipe, { url: server.url, secret: 'any', folder });
    expect(columns).toEqual(['resourceType', 'id', 'meta.versionId', 'active', 'name']);
    expect(rows).toEqual(
      all.map((n) => ['Patient', String(n), '1', String(n % 2 === 0), `[{"family":"é \\"${n}\\""}]`]),
    );
    expect(warnings).toEqual([]);
  });
});
