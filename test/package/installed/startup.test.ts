import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { makeFolder, start } from '../../journey/process.ts';
import { adminKey, makeWorld, type Program } from '../../journey/world.ts';

const installed = inject('installed');
const dist = join(installed, 'dist');

/** Reports which of the package's files were loaded, and for which of them V8 used or rejected compiled code. */
const preload = `
  const vm = require('node:vm');
  const rejected = [], used = [];
  vm.Script = class extends vm.Script {
    constructor(text, options) {
      super(text, options);
      if (options.cachedData !== undefined) (this.cachedDataRejected ? rejected : used).push(options.filename);
    }
  };
  process.on('exit', () => {
    const loaded = Object.keys(require.cache).filter((file) => file.startsWith(${JSON.stringify(dist)}));
    require('node:fs').writeFileSync('loaded.json', JSON.stringify({ loaded, rejected, used }));
  });
`;

interface Loaded {
  readonly loaded: readonly string[];
  readonly rejected: readonly string[];
  readonly used: readonly string[];
}

describe.each(inject('nodes'))('sync in the installed package under Node $major', ({ path: node }) => {
  const program: Program = { node, door: join(installed, 'src/cli/sluice.js') };

  async function setUp() {
    const world = await makeWorld({ program, serve: ['--no-limits'] });
    const home = await world.home();
    await home.write('rows.csv', 'id,name\n1,a\n');
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { folder: { connector: 'file' } },
      jobs: { rows: { source: 'folder', query: 'rows.csv', format: 'csv', target: { instance: world.instances.csv } } },
    });
    const file = join(home.folder, 'preload.cjs');
    await writeFile(file, preload);
    const cache = await makeFolder();
    const env = { NODE_OPTIONS: `--require ${file}`, XDG_CACHE_HOME: cache };
    const sync = async (says: string): Promise<Loaded> => {
      const ended = await start(['sync'], { program, cwd: home.folder, env }).ended;
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(says) });
      return JSON.parse(await readFile(join(home.folder, 'loaded.json'), 'utf8')) as Loaded;
    };
    return { cache, home, world, sync };
  }

  it('loads two large files and few others if there is nothing new', async () => {
    const { sync } = await setUp();
    await sync('delivered');
    const { loaded } = await sync('unchanged');
    expect(loaded.filter((path) => /\/chunks\/hot-/.test(path))).toHaveLength(2);
    expect(loaded.length).toBeLessThan(13);
    expect(loaded.filter((path) => /undici|temporal/.test(path))).toEqual([]);
  });

  it('loads only one of its large files in a process that only reads a source', async () => {
    const script = `require(${JSON.stringify(join(dist, 'src/cli/refresh/child.js'))});
      process.stdout.write(JSON.stringify(Object.keys(require.cache)));
      process.exit();`;
    const { stdout } = await promisify(execFile)(node, ['-e', script]);
    const hot = (JSON.parse(stdout) as string[])
      .map((path) => basename(path))
      .filter((name) => name.startsWith('hot-'));
    expect(hot).toEqual([expect.stringMatching(/^hot-read-/)]);
  });

  it.each([
    ['watches the event loop', 'src/daemon/loop-watch/watch-worker.js'],
    ['reads SQLite', 'connectors/db/sqlite-child.js'],
  ])('shares no file with the thread or process that %s', async (_, file) => {
    const text = await readFile(join(dist, file), 'utf8');
    expect(text.length).toBeLessThan(100_000);
    expect(text).not.toMatch(/chunks\/(hot|rolldown-runtime)-/);
  });

  it('uses code that an earlier run compiled, except for the entry file', async () => {
    const { sync } = await setUp();
    expect((await sync('delivered')).used).toEqual([]);
    const { loaded, rejected, used } = await sync('unchanged');
    expect(rejected).toEqual([]);
    const entry = loaded.findIndex((path) => path.endsWith('/start-built.js'));
    const later = loaded.slice(entry + 1).filter((path) => !/rolldown-runtime-/.test(path));
    expect(later.filter((path) => !used.includes(path))).toEqual([]);
  });

  it('recompiles a file if its compiled code is damaged', async () => {
    const { cache, sync } = await setUp();
    await sync('delivered');
    const [folder] = await readdir(join(cache, 'sluice/code'));
    const files = (await readdir(join(cache, 'sluice/code', folder!))).map((name) =>
      join(cache, 'sluice/code', folder!, name),
    );
    const hot = files.find((file) => file.includes('hot-read-'))!;
    const bytes = await readFile(hot);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(hot, bytes);
    expect((await sync('unchanged')).used.some((file) => file.includes('hot-read-'))).toBe(false);
    expect((await sync('unchanged')).used.some((file) => file.includes('hot-read-'))).toBe(true);
  });

  it("prints no Node warning if it loads a user's connector", async () => {
    const { home, world } = await setUp();
    await home.write(
      'two.mjs',
      `import { batchOf, defineConnector } from 'sluice/sdk';
      const columns = [{ name: 'n', type: 'integer' }];
      export default defineConnector({
        id: 'two', title: 'Two', summary: 'Two rows.', source: {}, query: {}, check: async () => 'there',
        extract: async () => ({ columns, batches: (async function* () { yield batchOf(columns, [['1'], ['2']]); })() }),
      });`,
    );
    await home.config({
      connectors: '.',
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { mine: { connector: 'two' } },
      jobs: { rows: { source: 'mine', format: 'csv', target: { instance: world.instances.csv } } },
    });
    for (let run = 0; run < 2; run++) {
      const { code, stderr } = await start(['sync'], {
        program,
        cwd: home.folder,
        env: { XDG_CACHE_HOME: home.folder },
      }).ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('(node:') });
    }
  });

  it("deletes the compiled code of builds that weren't used for a month, once a day", async () => {
    const { cache, sync } = await setUp();
    await sync('delivered');
    const code = join(cache, 'sluice/code');
    const [own] = (await readdir(code)) as [string];
    const age = async (name: string, days: number): Promise<void> => {
      const at = Date.now() / 1000 - days * 86_400;
      await utimes(join(code, name), at, at);
    };
    for (const [name, days] of [
      ['replaced', 31],
      ['used', 29],
    ] as const) {
      await mkdir(join(code, name));
      await writeFile(join(code, name, 'hot.js'), 'code');
      await age(name, days);
    }
    await sync('unchanged');
    expect((await readdir(code)).sort(), 'already done on this day').toEqual([own, 'replaced', 'used'].sort());
    await age(own, 60);
    expect((await sync('unchanged')).used).not.toEqual([]);
    expect((await readdir(code)).sort()).toEqual([own, 'used'].sort());
    await age('used', 31);
    await sync('unchanged');
    expect((await readdir(code)).sort(), 'its own use was recorded').toEqual([own, 'used'].sort());
  });

  it("doesn't use compiled code from a folder that other users can write to", async () => {
    const { cache, sync } = await setUp();
    await sync('delivered');
    const code = join(cache, 'sluice/code');
    const [name] = await readdir(code);
    await chmod(join(code, name!), 0o770);
    expect((await sync('unchanged')).used).toEqual([]);
  });
});
