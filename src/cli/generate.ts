import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
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

/**
 * Writes what is made out of declarations: the JSON Schema for editors, the reference pages of the config and of every
 * connector, the table of the service's endpoints, the lines of the log, the hashes of the schemas, and the files that a page quotes. With `--check` nothing is written; a file that is stale is named, with the
 * command that fixes it. `--into FOLDER` replaces the checkout.
 */
const root = resolve(import.meta.dirname, '../..');
const { values: flags } = parseArgs({
  options: { check: { type: 'boolean', default: false }, into: { type: 'string', default: root } },
});
const pagesFolder = 'docs/connectors';

/** Every generated file by its name, with its text. */
async function makeAll(): Promise<Map<string, string>> {
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
    ['docs/connectors.md', await quoted('docs/connectors.md')],
    ['docs/service.md', withBehaviourTable(await pageOf('docs/service.md'), await collectResources())],
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
function pageOf(name: string): Promise<string> {
  return readFile(join(root, name), 'utf8');
}

/** A page with the files that it quotes: each stands as a block of code behind a comment with its name. */
async function quoted(page: string): Promise<string> {
  const text = await pageOf(page);
  const quote = /(<!-- file: (\S+) -->\n```(\w+)\n)[\s\S]*?(?=```)/g;
  const names = [...text.matchAll(quote)].map((match) => match[2]!);
  const files = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(root, name), 'utf8')] as const)),
  );
  return text.replace(quote, (_, head: string, name: string) => head + files.get(name)!);
}

/** Pages of connectors that there no longer are. */
async function orphansIn(into: string, files: ReadonlyMap<string, string>): Promise<string[]> {
  const there = await readdir(resolve(into, pagesFolder)).catch(() => []);
  return there.map((name) => `${pagesFolder}/${name}`).filter((name) => !files.has(name));
}

async function generate({ check, into }: { check: boolean; into: string }): Promise<void> {
  const files = await makeAll();
  for (const [name, text] of files) {
    const file = resolve(into, name);
    if ((await readFile(file, 'utf8').catch(() => '')) === text) continue;
    if (check) {
      complain(`${name} is stale. Fix it with: npm run generate`);
    } else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      process.stdout.write(`wrote ${name}\n`);
    }
  }
  for (const name of await orphansIn(into, files)) complain(`${name} belongs to no connector. Remove it`);
}

function complain(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

await generate(flags);
