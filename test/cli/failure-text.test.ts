import { expect, it } from 'vitest';
import { adminKey, makeWorld } from '../journey/world.ts';

it("a failed job's error names the job, the step, the cause, the fix, the run ID, and a command for details", async () => {
  const world = await makeWorld();
  const home = await world.home();
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: { orders: { source: 'files', query: 'gone.csv', format: 'csv', target: world.instances.csv } },
  });
  const { code, stderr } = await home.sluice(['sync']);
  expect(code).toBe(1);
  const [, run = ''] = /\n {2}run {6}(\S+)\n/.exec(stderr) ?? [];
  expect(stderr).toMatch(/^FILE_NOT_FOUND: the file does not exist$/m);
  expect(stderr).toMatch(/^ {2}where {4}.*job orders, source files, stage extract/m);
  expect(stderr).toMatch(/^ {2}next {5}\S/m);
  expect(stderr).toMatch(new RegExp(`^ {2}more {5}sluice history .*${run}`, 'm'));

  const told = await home.sluice(['history', '--run', run]);
  expect(told.code).toBe(0);
  expect(told.stdout).toMatch(new RegExp(`^job {6}orders\nrun {6}${run}\n[\\s\\S]*\nresult {3}failed\n`));
  expect(told.stdout).toMatch(/^problem {2}FILE_NOT_FOUND: .*gone\.csv[\s\S]*^next {5}\S/m);

  const { jobs } = await home.sync();
  expect(jobs[0]).toMatchObject({ problem: { where: { job: 'orders', source: 'files', stage: 'extract' } } });
  const { run: again, more } = jobs[0] as unknown as { run: string; more: string };
  expect(more).toMatch(new RegExp(`^sluice history .*--run ${again}$|^sluice history --run ${again}$`));
  const { stdout } = await home.sluice(['history', '--run', again, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ run: again, job: 'orders', state: 'failed' });

  expect(await home.sluice(['history', '--run', 'nonsense'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('CLI_UNKNOWN_RUN'),
  });
});
