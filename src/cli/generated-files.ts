import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Catalog, openCatalog } from '../config/catalog/catalog.ts';
import { connectorPage } from '../config/docs/connector-page.ts';
import { configSchema } from '../config/docs/json-schema.ts';
import { configReference } from '../config/docs/reference.ts';
import { logPage } from '../daemon/logs/page.ts';
import { formats } from '../formats/index.ts';
import { type SchemaEntry, schemaHash } from '../lib/sqlite-shape.ts';
import { collectResources } from '../service/collect.ts';
import { withBehaviourTable } from '../service/openapi/behaviour-table.ts';
import { newestSchema as serviceSchema } from '../service/store/migrate.ts';
import { newestSchema as stateSchema } from '../state/engine/migrate.ts';
import { transforms } from '../transforms/index.ts';

export const pagesFolder = 'docs/connectors';

/** Every file that is made out of declarations, by its name, with its text. */
export async function makeFiles(root: string): Promise<Map<string, string>> {
  const catalog = await openCatalog();
  const loaded = await Promise.all(catalog.ids.map((id) => catalog.load(id)));
  const [broken] = catalog.problems;
  if (broken !== undefined) throw broken;
  const connectors = loaded.filter((connector) => connector !== undefined);
  const declarations = { connectors, formats, transforms };
  const files = new Map([
    ['config/sluice.schema.json', `${JSON.stringify(configSchema(declarations), null, 2)}\n`],
    ['docs/config.md', configReference(declarations)],
    ['docs/logs.md', logPage()],
    ['src/state/migrations/newest-hash.ts', hashFile(await stateSchema())],
    ['src/service/store/newest-hash.ts', hashFile(await serviceSchema())],
    ['docs/connectors.md', await quoted(root, 'docs/connectors.md')],
    ['docs/service.md', withBehaviourTable(await pageOf(root, 'docs/service.md'), await collectResources())],
  ]);
  for (const connector of connectors) {
    files.set(`${pagesFolder}/${connector.id}.md`, connectorPage(connector, await notesOf(connector.id, catalog)));
  }
  return files;
}

/** What a database is held against when it is opened. */
function hashFile(schema: readonly SchemaEntry[]): string {
  return `/** Hash of the newest schema. Made by "npm run generate" out of the migrations; edits here are lost. */
export const newestHash = '${schemaHash(schema)}';
`;
}

/** What people wrote about a connector: `notes.md` in its folder, or `<id>.md` beside its file. */
async function notesOf(id: string, catalog: Catalog): Promise<string | undefined> {
  const folder = dirname(catalog.file(id)!);
  const file = folder.endsWith(`/${id}`) ? 'notes.md' : `${id}.md`;
  return readFile(join(folder, file), 'utf8').catch(() => undefined);
}

/** A page that people write, with parts in it that are made. */
function pageOf(root: string, name: string): Promise<string> {
  return readFile(join(root, name), 'utf8');
}

/** A page with the files that it quotes: each stands as a block of code behind a comment with its name. */
async function quoted(root: string, page: string): Promise<string> {
  const text = await pageOf(root, page);
  const quote = /(<!-- file: (\S+) -->\n```(\w+)\n)[\s\S]*?(?=```)/g;
  const names = [...text.matchAll(quote)].map((match) => match[2]!);
  const files = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(root, name), 'utf8')] as const)),
  );
  return text.replace(quote, (_, head: string, name: string) => head + files.get(name)!);
}
