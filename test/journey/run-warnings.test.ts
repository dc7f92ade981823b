import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Home } from './home.ts';
import { adminKey, forSuite, makeWorld } from './world.ts';

/** A user's own connector, which warns twice with the same text and once with a secret in the text. */
const warner = `import { batchOf, defineConnector, option } from 'sluice/sdk';
const columns = [{ name: 'a', type: 'text' }];
const cut = { code: 'WARNER_CUT', message: 'The server cut 2 values', seen: 'group_concat()', next: 'raise group_concat_max_len' };
export default defineConnector({
  id: 'warner',
  title: 'Warner',
  summary: 'Warns.',
  source: { key: option.text({ required: true, secret: true, about: 'A key.' }) },
  query: { fail: option.boolean({ default: false, about: 'Fail after the warnings.' }) },
  check: async () => 'fine',
  extract: async ({ source, query, warn }) => {
    warn(cut);
    warn(cut);
    warn({ code: 'WARNER_ECHO', message: 'The server echoed ' + source.key });
    if (query.fail) throw new Error('broken');
    return { columns, batches: (async function* () { yield batchOf(columns, [['x']]); })() };
  },
});
`;
/** A connector that returns only a part of its rows in a dry run. */
const sampler = `import { batchOf, defineConnector } from 'sluice/sdk';
const columns = [{ name: 'a', type: 'integer' }];
export default defineConnector({
  id: 'sampler',
  title: 'Sampler',
  summary: 'Samples.',
  source: {},
  query: {},
  check: async () => 'fine',
  extract: async ({ isDryRun = false }) => {
    const rows = isDryRun ? [[1]] : [[1], [2]];
    return { columns, batches: (async function* () { yield batchOf(columns, rows); })(), isSample: isDryRun };
  },
});
`;
const cut = {
  code: 'WARNER_CUT',
  message: 'The server cut 2 values',
  seen: 'group_concat()',
  next: 'raise group_concat_max_len',
};
const echo = { code: 'WARNER_ECHO', message: 'The server echoed [redacted]' };

const scope = forSuite();

describe("a source's warning", () => {
  let home: Home;
  beforeAll(async () => {
    const world = await makeWorld({ scope });
    home = await world.home(scope);
    await mkdir(join(home.folder, 'connectors'));
    await writeFile(join(home.folder, 'connectors/warner.mts'), warner);
    await writeFile(join(home.folder, 'connectors/sampler.mts'), sampler);
    const job = { source: 'shop', format: 'csv' };
    await home.config({
      connectors: './connectors',
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { shop: { connector: 'warner', key: 'swordfish-4711' }, parts: { connector: 'sampler' } },
      jobs: {
        orders: { ...job, target: world.instances.csv },
        sampled: { ...job, source: 'parts', target: world.instances.xml },
        broken: { ...job, query: { fail: true }, target: world.instances.json },
      },
    });
  });

  it('is not the only sign that a dry run read a sample', async () => {
    const { stdout } = await home.sluice(['sync', 'sampled', '--dry-run']);
    expect(stdout).toContain('would read more rows than this dry run');
    expect(stdout).not.toContain('would send');
    const file = join(home.folder, 'all.csv');
    await home.sluice(['sync', 'sampled', '--to', file]);
    expect(await readFile(file, 'utf8')).toBe('a\n1\n2\n');
  });

  it('is shown once by a sync, which still delivers', async () => {
    const { code, stderr, stdout } = await home.sluice(['sync', 'orders']);
    expect(stdout).toContain('delivered');
    expect(code).toBe(0);
    expect(stderr.match(/warning WARNER_CUT: The server cut 2 values\n {2}where {4}job orders\n/g)).toHaveLength(1);
    expect(stderr).toContain('warning WARNER_ECHO: The server echoed [redacted]');
  });

  it('is part of the JSON result', async () => {
    expect((await home.sync({ args: ['orders'] })).jobs).toMatchObject([{ job: 'orders', warnings: [cut, echo] }]);
  });

  it('is shown by a dry run', async () => {
    const { stdout } = await home.sluice(['sync', 'orders', '--dry-run']);
    expect(stdout).toContain('warning WARNER_CUT: The server cut 2 values');
    const forMachines = await home.sluice(['sync', 'orders', '--dry-run', '--json']);
    expect(JSON.parse(forMachines.stdout)).toMatchObject({ jobs: [{ warnings: [cut, echo] }] });
  });

  it('stays in the history, even of a failed run', async () => {
    await home.sync({ args: ['broken'] });
    const history = async (...args: string[]) => (await home.sluice(['history', ...args])).stdout;
    const [failed] = JSON.parse(await history('broken', '--json')) as { run: string }[];
    expect(failed).toMatchObject({ state: 'failed', warnings: [cut, echo] });
    expect(await history('--run', failed!.run)).toContain('warning  WARNER_CUT: The server cut 2 values');
    expect(await history('orders')).toContain('warning: The server cut 2 values (and 1 more)');
  });

  it('is shown by explain, with the fix', async () => {
    const { stdout } = await home.sluice(['explain', 'orders', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        because: expect.arrayContaining([
          expect.objectContaining({ message: 'warning: The server cut 2 values (group_concat())', code: 'WARNER_CUT' }),
        ]),
        fix: 'raise group_concat_max_len',
      },
    ]);
  });

  it('is logged', async () => {
    const { stderr } = await home.sluice(['sync', 'orders', '--log', 'warn']);
    expect(stderr).toContain('"msg":"run.warning"');
  });
});
