import papaparse from 'papaparse';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TestSource, World } from '#sdk/testing';
import { openCatalog } from '../../src/config/catalog/catalog.ts';
import { pullDatasource } from './pull-built.ts';

/** Reads every connector in the catalog as a data source of the service, using the standard suite's test sources. */
const catalog = await openCatalog();

/** Data sources can't use the service's disk, so files, SQLite databases and certificate files don't work. */
const onDisk = ['file', 'db in SQLite', 'ftp in FTPS'];

async function worldsOf(id: string): Promise<readonly { name: string; world: World }[]> {
  const file = new URL(`../conformance/connectors/${id}.ts`, import.meta.url);
  const { default: worlds } = (await import(file.href)) as { default: World | readonly World[] };
  return [worlds].flat().map((world) => ({ name: [id, world.name].filter(Boolean).join(' in '), world }));
}

async function openedFor(world: World): Promise<TestSource> {
  const place = await world.open();
  onTestFinished(async () => await place.close?.());
  return place;
}

/** The options as strings, because properties are strings. */
function textsOf(place: 'source' | 'query', options: TestSource['source']): Record<string, string> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [`${place}.${name}`, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

async function propertiesOf({ source, query, login }: TestSource): Promise<Record<string, string>> {
  const options = { ...textsOf('source', source), ...textsOf('query', query) };
  if (login === undefined) return options;
  const { access_token, kept, client_id = '' } = await login.token();
  return { ...options, ...kept, oauth_user_token: access_token, client_id };
}

async function pulled(connector: string, properties: Record<string, string>): Promise<string[][]> {
  const reach = { host: '127.0.0.1', allowPrivate: false };
  const request = { connector, format: 'csv', properties, reach, signal: new AbortController().signal } as const;
  const bytes = Buffer.concat(await Array.fromAsync(pullDatasource(request)));
  return papaparse.parse<string[]>(bytes.toString('utf8'), { skipEmptyLines: true }).data;
}

for (const id of catalog.ids) {
  const connector = await catalog.load(id);
  if (connector === undefined || connector.retired !== undefined) continue;
  describe.each(await worldsOf(id))('a data source with the connector $name', ({ name, world }) => {
    it(onDisk.includes(name) ? "is refused, because it uses the service's disk" : 'shows its rows', async () => {
      const place = await openedFor(world);
      const reading = pulled(id, await propertiesOf(place));
      if (onDisk.includes(name)) {
        await expect(reading).rejects.toMatchObject({ code: expect.stringMatching(/^REFRESH_(DISK|CONNECTOR)$/) });
        return;
      }
      const rows = place.rows.map((row) => row.map((cell) => cell ?? ''));
      expect(await reading).toEqual([place.columns.map(({ name: column }) => column), ...rows]);
    });
  });
}
