import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCatalog, openCatalog } from '../../src/config/catalog/catalog.ts';
import { checkConfig } from '../../src/config/check.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configWith, folderWith, goodJob, id, load } from './fixtures.ts';

const plugin = (name: string) => `export default {
  id: '${name}', title: 'T', summary: 'S.', source: {}, query: {},
  check: async () => 'fine', extract: async () => { throw new Error('no'); },
};`;

async function putPackage(
  folder: string,
  name: string,
  connectors: Record<string, string> | undefined,
  files: Record<string, string>,
): Promise<void> {
  const at = join(folder, 'node_modules', name);
  await mkdir(join(at, 'lib'), { recursive: true });
  const manifest = { name, type: 'module', ...(connectors === undefined ? {} : { sluice: { connectors } }) };
  await writeFile(join(at, 'package.json'), JSON.stringify(manifest));
  for (const [file, text] of Object.entries(files)) await writeFile(join(at, file), text);
}

describe('the connector catalog', () => {
  it('contains the connectors in the folder, each under its file name', async () => {
    const { connectors, problems } = await loadCatalog();
    expect(problems).toEqual([]);
    expect([...connectors.keys()]).toEqual(expect.arrayContaining(['db', 'file']));
    for (const [name, connector] of connectors) expect(connector.id).toBe(name);
  });

  it("adds the connectors in the config's folder, both files and subfolders", async () => {
    const folder = await folderWith({
      'mine.ts': plugin('mine'),
      '_helper.ts': 'throw new Error("not a plugin")',
      'notes.md': '',
    });
    await mkdir(join(folder, 'big'));
    await writeFile(join(folder, 'big/index.mjs'), plugin('big'));
    const { connectors, problems } = await loadCatalog({ folder });
    expect(problems).toEqual([]);
    expect([...connectors.keys()]).toEqual(expect.arrayContaining(['db', 'mine', 'big']));
  });

  it('re-imports a changed file in a folder', async () => {
    const folder = await folderWith({ 'mine.mjs': 'throw new Error("boom")' });
    const look = async () => {
      const catalog = await openCatalog({ folder });
      return { title: (await catalog.load('mine'))?.title, problems: catalog.problems.length };
    };
    expect(await look()).toEqual({ title: undefined, problems: 1 });
    const put = async (text: string, time: number) => {
      await writeFile(join(folder, 'mine.mjs'), text);
      await utimes(join(folder, 'mine.mjs'), time, time);
    };
    await put(plugin('mine'), 1_770_000_000);
    expect(await look()).toEqual({ title: 'T', problems: 0 });
    await put(plugin('mine').replace("'T'", "'Mine'"), 1_770_000_001);
    expect(await look()).toEqual({ title: 'Mine', problems: 0 });
  });

  it("names a plugin that can't be used, says why, and loads the others", async () => {
    const folder = await folderWith({
      'crashes.mjs': 'throw new Error("boom")',
      'db.mjs': plugin('db'),
      'empty.mjs': 'export const x = 1;',
      'good.mjs': plugin('good'),
      'half.mjs': "export default { id: 'half', title: 'T' };",
      'renamed.mjs': plugin('other'),
    });
    const { connectors, problems } = await loadCatalog({ folder });
    expect(connectors.has('good')).toBe(true);
    expect(problems.map(({ message }) => message)).toEqual([
      'The "db" connector cannot be used: the name "db" is taken by another connector; rename this one',
      'The "crashes" connector cannot be used: boom',
      'The "empty" connector cannot be used: its default export was not created with defineConnector',
      'The "half" connector cannot be used: it lacks "summary"',
      'The "renamed" connector cannot be used: its id is "other", but its file is named "renamed"',
    ]);
    expect(problems.every(({ code, where }) => code === 'CONFIG_CONNECTOR_BROKEN' && where.file !== undefined)).toBe(
      true,
    );
  });

  it("loads connectors from the config's npm packages, relative to the config's folder", async () => {
    const folder = await folderWith({});
    await putPackage(folder, '@acme/connectors', { acme: './lib/acme.js' }, { 'lib/acme.js': plugin('acme') });
    await putPackage(folder, 'bare', undefined, {});
    const { connectors, problems } = await loadCatalog({
      from: folder,
      packages: ['@acme/connectors', 'bare', 'gone'],
    });
    expect(connectors.get('acme')?.title).toBe('T');
    expect(problems.map(({ code, message, next }) => [code, message, next])).toEqual([
      [
        'CONFIG_CONNECTOR_PACKAGE',
        'The package "bare" provides no connectors: its package.json does not list them as "sluice": {"connectors": {"NAME": "./FILE.js"}}',
        "contact the package's author, or remove the package",
      ],
      [
        'CONFIG_CONNECTOR_PACKAGE',
        `The connector package "gone" is not installed in the config's folder or above it`,
        "run in the config's folder: npm install gone",
      ],
    ]);
  });

  it('imports only the requested connector', async () => {
    const folder = await folderWith({
      'wanted.mjs': `globalThis.imported = [...(globalThis.imported ?? []), 'wanted'];${plugin('wanted')}`,
      'other.mjs': `globalThis.imported = [...(globalThis.imported ?? []), 'other'];${plugin('other')}`,
      'other.test.mjs': 'throw new Error("a test is no connector")',
    });
    const catalog = await openCatalog({ folder });
    expect(catalog.ids.slice(-2)).toEqual(['other', 'wanted']);
    expect(await catalog.load('wanted')).toBe(await catalog.load('wanted'));
    expect((globalThis as { imported?: string[] }).imported).toEqual(['wanted']);
    expect([catalog.origin('wanted'), catalog.origin('db'), catalog.origin('x')]).toEqual([
      folder,
      'sluice',
      undefined,
    ]);
    expect(await catalog.load('x')).toBeUndefined();
  });

  it('reports a missing folder', async () => {
    const { connectors, problems } = await loadCatalog({ folder: '/nowhere/at/all' });
    expect(connectors.has('db')).toBe(true);
    expect(problems.map(({ code }) => code)).toEqual(['CONFIG_CONNECTORS_FOLDER']);
  });

  it('is loaded completely by a check, which names a broken connector even if no source uses it', async () => {
    const text = `
connectors: .
destinations: {main: {url: 'http://127.0.0.1:8080/api/1.0', api_key: abcdefabcdef}}
sources: {files: {connector: file}}
jobs: {orders: {source: files, query: a.csv, format: csv, target: ${id('a')}}}
`;
    const folder = await folderWith({ 'sluice.yaml': text, 'bad.mjs': 'throw new Error("boom")' });
    const file = join(folder, 'sluice.yaml');
    expect((await loadConfig(file, { env: {} })).problems).toEqual([]);
    const { problems, config } = await checkConfig(file, { env: {} });
    expect(problems.map(({ code }) => code)).toEqual(['CONFIG_CONNECTOR_BROKEN']);
    expect([...config!.jobs.keys()]).toEqual(['orders']);
  });

  it("finds the config's own connectors by a relative path, and reports a broken one by its file", async () => {
    const text = configWith(
      `${goodJob.replace('source: shop', 'source: a').replace('    query: select 1\n', '')}  broken:\n    source: b\n    format: csv\n    target: ${id('b')}\n`,
      'connectors: .',
    ).replace(/sources:\n[\s\S]*jobs:/, 'sources:\n  a: {connector: mine}\n  b: {connector: bad}\njobs:');
    const { config, problems, refused } = await load(
      text,
      { catalog: openCatalog },
      { 'mine.mjs': plugin('mine'), 'bad.mjs': 'throw 1' },
    );
    expect([...config!.jobs.keys()]).toEqual(['orders']);
    expect([...refused.keys()]).toEqual(['broken']);
    expect(problems.map(({ code }) => code).sort()).toEqual(['CONFIG_CONNECTOR_BROKEN', 'CONFIG_UNKNOWN_CONNECTOR']);
    // The connector's name is known, so no name is suggested, least of all its own.
    expect(problems.map(({ next }) => next)).not.toContain('did you mean "bad"?');
  });

  it('rejects a source whose vendor shut the service down, regardless of its options, but not other sources', async () => {
    const files = `
destinations: {main: {url: 'http://127.0.0.1:8080/api/1.0', api_key: abcdefabcdef}}
sources: {files: {connector: file}, posts: {connector: radian6, app_key: of-old}}
jobs:
  orders: {source: files, query: a.csv, format: csv, target: ${id('a')}}
  posts: {source: posts, query: {topic: 7}, format: csv, target: ${id('b')}}
`;
    const { config, problems, refused } = await load(files, { catalog: openCatalog });
    expect([[...config!.jobs.keys()], [...refused.keys()]]).toEqual([['orders'], ['posts']]);
    expect(problems.map(({ code, where }) => `${where.line} ${code}`)).toEqual(['3 CONFIG_RETIRED']);
    expect(problems[0]?.message).toMatch(/18 November 2024.*Brandwatch/);
  });
});
