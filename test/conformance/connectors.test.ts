import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { connectorKit, type World } from '#sdk/testing';
import { openCatalog } from '../../src/config/catalog/catalog.ts';

/**
 * Every connector of the catalog runs the standard suite in each of its worlds: `connectors/<id>.ts` next to this file.
 */
const catalog = await openCatalog();
const connectors = await Promise.all(catalog.ids.map(async (id) => ({ id, connector: await catalog.load(id) })));

async function worldsOf(id: string): Promise<readonly World[]> {
  const file = new URL(`./connectors/${id}.ts`, import.meta.url);
  if (!existsSync(file)) return [];
  const { default: worlds } = (await import(file.href)) as { default: World | readonly World[] };
  return [worlds].flat();
}

it('every connector in the catalog loads without errors', () => {
  expect(catalog.problems).toEqual([]);
  expect(connectors.length).toBeGreaterThan(2);
});

for (const { id, connector } of connectors) {
  if (connector === undefined) continue;
  const worlds = connector.retired === undefined ? await worldsOf(id) : [undefined];

  it(`${id} has a test world in test/conformance/connectors/${id}.ts`, () => {
    expect(worlds).not.toEqual([]);
  });

  describe.each(worlds.map((world) => ({ world, name: [id, world?.name].filter(Boolean).join(' in ') })))(
    'the connector $name',
    ({ world }) => {
      const { checks, close } = connectorKit(connector, world, { file: catalog.file(id)! });
      afterAll(close);
      for (const { name, run } of checks) it(name, run);
    },
  );
}
