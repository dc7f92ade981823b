import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { adminKey, forSuite, makeWorld, type World } from '../journey/world.ts';

let world: World;
const scope = forSuite();
beforeAll(async () => {
  world = await makeWorld({ scope });
});

const rows = 'id,name\n1,a\n2,"b,c"\n';

/** Two jobs that read a file, and one that starts a refresh. */
async function setUp() {
  const home = await world.home();
  await home.write('rows.csv', rows);
  const job = {
    source: 'files',
    query: 'rows.csv',
    target: world.instances.csv,
    format: { type: 'csv', delimiter: ';' },
  };
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: {
      orders: job,
      stock: { ...job, target: world.instances.json, format: 'json' },
      refresh: { target: { refresh: [world.instances.csv] } },
    },
  });
  const to = (file: string, ...more: string[]) => home.sluice(['sync', '--to', join(home.folder, file), ...more]);
  const files = async () => (await readdir(home.folder)).filter((name) => !['rows.csv', 'sluice.yaml'].includes(name));
  return { home, to, files, read: (file: string) => readFile(join(home.folder, file), 'utf8') };
}

it("sync --to writes a job's rows to a file in the format that its extension names, and uploads nothing", async () => {
  const { to, files, read } = await setUp();
  expect(await to('out.JSON', 'orders')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('of json; written'),
  });
  expect(await read('out.JSON')).toBe('[\n{"id":"1","name":"a"},\n{"id":"2","name":"b,c"}\n]\n');
  expect(await to('out.csv', 'stock')).toMatchObject({ code: 0 });
  expect(await read('out.csv')).toBe(rows);
  expect(await files()).toEqual(['out.JSON', 'out.csv']);
  expect(await world.uploads()).toEqual([]);
});

it("sync --to keeps the job's format and its options if the file has the same or an unknown extension", async () => {
  const { to, read } = await setUp();
  for (const file of ['out.csv', 'out']) {
    const { stdout } = await to(file, 'orders', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 0, jobs: [{ format: 'csv', would: 'written', rows: 2 }] });
    expect(await read(file)).toBe('id;name\n1;a\n2;b,c\n');
  }
});

it('sync --to replaces a file only once the new one is complete', async () => {
  const { home, to, files, read } = await setUp();
  await home.write('out.csv', 'old');
  await home.write('rows.csv', 'id,name\n1\n');
  const failed = await to('out.csv', 'orders');
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('nothing was written') });
  expect(await read('out.csv')).toBe('old');
  expect(await files()).toEqual(['out.csv']);
  await home.write('rows.csv', rows);
  expect((await to('out.csv', 'orders')).code).toBe(0);
  expect(await read('out.csv')).toBe('id;name\n1;a\n2;b,c\n');
});

it('sync --to rejects several jobs, a job without rows, and a path to a folder or link', async () => {
  const { home, to, files } = await setUp();
  await mkdir(join(home.folder, 'folder'));
  await symlink('rows.csv', join(home.folder, 'link'));
  const cases: [string[], string][] = [
    [['out.csv'], '--to writes the rows of a single job, but 3 are selected'],
    [['out.csv', 'orders', 'stock'], '--to writes the rows of a single job, but 2 are selected'],
    [['out.csv', 'refresh'], '"refresh" starts refreshes, which have no rows'],
    [['folder', 'orders'], '/folder is not'],
    [['link', 'orders'], '/link is not'],
    [['out.csv', 'orders', '--diff'], "'--to <file>' cannot be used with option '--diff'"],
  ];
  for (const [[file = '', ...more], message] of cases) {
    expect(await to(file, ...more)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  }
  expect(await to('absent/out.csv', 'orders')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('Cannot write'),
  });
  expect((await files()).sort()).toEqual(['folder', 'link']);
});
