import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCatalogue } from '../../src/config/catalogue.ts';
import { configWith, folderWith, goodJob, id, load } from './fixtures.ts';

const plugin = (name: string) => `export default {
  id: '${name}', title: 'T', summary: 'S.', source: {}, query: {},
  check: async () => 'fine', extract: async () => { throw new Error('no'); },
};`;

describe('the catalogue of connectors', () => {
  it('holds what stands in the folder, each under the name of its file', async () => {
    const { connectors, problems } = await loadCatalogue();
    expect(problems).toEqual([]);
    expect([...connectors.keys()]).toEqual(expect.arrayContaining(['db', 'file']));
    for (const [name, connector] of connectors) expect(connector.id).toBe(name);
  });

  it('adds the folder that a config names, files and folders alike', async () => {
    const folder = await folderWith({
      'mine.ts': plugin('mine'),
      '_helper.ts': 'throw new Error("not a plugin")',
      'notes.md': '',
    });
    await mkdir(join(folder, 'big'));
    await writeFile(join(folder, 'big/index.mjs'), plugin('big'));
    const { connectors, problems } = await loadCatalogue(folder);
    expect(problems).toEqual([]);
    expect([...connectors.keys()]).toEqual(expect.arrayContaining(['db', 'mine', 'big']));
  });

  it('names a plugin that cannot be used and why, and goes on with the others', async () => {
    const folder = await folderWith({
      'crashes.mjs': 'throw new Error("boom")',
      'db.mjs': plugin('db'),
      'empty.mjs': 'export const x = 1;',
      'good.mjs': plugin('good'),
      'half.mjs': "export default { id: 'half', title: 'T' };",
      'renamed.mjs': plugin('other'),
    });
    const { connectors, problems } = await loadCatalogue(folder);
    expect(connectors.has('good')).toBe(true);
    expect(problems.map(({ message }) => message)).toEqual([
      'The connector "crashes" cannot be used: boom',
      'The connector "db" cannot be used: there is a connector "db" already; rename this one',
      'The connector "empty" cannot be used: it has no default export made by defineConnector',
      'The connector "half" cannot be used: it lacks "summary"',
      'The connector "renamed" cannot be used: its id is "other", but its file is named "renamed"',
    ]);
    expect(problems.every(({ code, where }) => code === 'CONFIG_CONNECTOR_BROKEN' && where.file !== undefined)).toBe(
      true,
    );
  });

  it('says so when the folder is not there', async () => {
    const { connectors, problems } = await loadCatalogue('/nowhere/at/all');
    expect(connectors.has('db')).toBe(true);
    expect(problems.map(({ code }) => code)).toEqual(['CONFIG_CONNECTORS_FOLDER']);
  });

  it('is reached from a config: own connectors by a path beside it, a broken one blamed on its own file', async () => {
    const text = configWith(
      `${goodJob.replace('source: shop', 'source: a').replace('    query: select 1\n', '')}  broken:\n    source: b\n    format: csv\n    target: ${id('b')}\n`,
      'connectors: .',
    ).replace(/sources:\n[\s\S]*jobs:/, 'sources:\n  a: {connector: mine}\n  b: {connector: bad}\njobs:');
    const { config, problems, refused } = await load(
      text,
      { catalogue: loadCatalogue },
      { 'mine.mjs': plugin('mine'), 'bad.mjs': 'throw 1' },
    );
    expect([...config!.jobs.keys()]).toEqual(['orders']);
    expect([...refused.keys()]).toEqual(['broken']);
    expect(problems.map(({ code }) => code).sort()).toEqual(['CONFIG_CONNECTOR_BROKEN', 'CONFIG_UNKNOWN_CONNECTOR']);
  });
});
