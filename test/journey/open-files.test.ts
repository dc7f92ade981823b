import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminKey, makeWorld } from './world.ts';

/** Opens files until the limit is reached. */
const greedy = `
import { closeSync, openSync } from 'node:fs';
import { defineConnector } from 'sluice/sdk';
export default defineConnector({
  id: 'greedy', title: 'Greedy', summary: 'Opens files.', source: {}, query: {},
  check: async () => 'it is there',
  extract: async () => {
    const opened = [];
    try {
      for (;;) opened.push(openSync('/dev/null', 'r'));
    } finally {
      opened.forEach((file) => closeSync(file));
    }
  },
});`;

const limitedTo = (files: number) => ({ under: ['prlimit', `--nofile=${files}`] });

async function setUp() {
  const world = await makeWorld();
  const home = await world.home();
  await mkdir(join(home.folder, 'own'));
  await writeFile(join(home.folder, 'own/greedy.mjs'), greedy);
  await home.write('orders.csv', 'id\n1\n');
  await home.config({
    connectors: './own',
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { here: { connector: 'file' }, wide: { connector: 'greedy' } },
    jobs: {
      good: { source: 'here', query: { path: 'orders.csv' }, format: 'csv', target: world.instances.csv },
      greedy: { source: 'wide', format: 'csv', target: world.instances.json },
    },
  });
  return { world, home };
}

it('a command fails if the limit on open files is too low, and the error shows the fix', async () => {
  const { home } = await setUp();
  for (const command of ['sync', 'status', 'run', 'doctor', 'demo']) {
    const { code, stderr } = await home.sluice([command], limitedTo(24));
    expect({ command, code, stderr }).toEqual({
      command,
      code: 2,
      stderr: expect.stringContaining('OPEN_FILES_LIMIT: '),
    });
    expect(stderr).toContain('ulimit -n 1024');
  }
});

it('a sync works with a limit of 64 open files, and a run that reaches a limit reports which limit', async () => {
  const { world, home } = await setUp();
  const { code, jobs, stderr } = await home.sync(limitedTo(64));
  expect(code, stderr).toBe(1);
  expect(jobs.map(({ job, state, problem }) => [job, state, problem?.code])).toEqual([
    ['good', 'delivered', undefined],
    ['greedy', 'failed', 'OPEN_FILES_LIMIT'],
  ]);
  expect(jobs[1]!.problem).toMatchObject({ next: expect.stringContaining('ulimit -n') });
  expect(await world.data(world.instances.csv)).toBe('id\n1\n');
});

it('a missing temporary folder is reported with its path', async () => {
  const { home } = await setUp();
  const env = { TMPDIR: join(home.folder, 'nowhere') };
  const demo = await home.sluice(['demo'], { env });
  expect(demo).toMatchObject({ code: 2, stderr: expect.stringContaining(`TEMP_FOLDER: `) });
  const preview = await home.sluice(['sync', 'good', '--dry-run'], { env });
  expect(preview.stdout + preview.stderr).toContain('TEMP_FOLDER: ');
  for (const { stdout, stderr } of [demo, preview]) {
    expect(stdout + stderr).toContain(env.TMPDIR);
    expect(stdout + stderr).toContain('set the variable TMPDIR');
    expect(stdout + stderr).not.toContain('bug in Sluice');
  }
});
