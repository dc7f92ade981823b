import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

it('status reports what the state says next to a config that cannot be loaded', async () => {
  const world = await makeWorld();
  const home = await world.home();
  await home.write('rows.csv', 'id\n1\n');
  const job = { source: 'files', query: 'rows.csv', format: 'csv', schedule: '0 0 1 1 *' };
  const config = {
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: {
      orders: { ...job, target: world.instances.csv },
      lost: { ...job, query: 'none.csv', target: world.instances.json, format: 'json' },
      idle: { ...job, target: world.instances.xml, format: 'xml' },
    },
  };
  await home.config(config);
  expect((await home.sluice(['sync', 'orders'])).code).toBe(0);
  expect((await home.sluice(['sync', 'lost', '--wait', '0'])).code).toBe(1);
  const daemon = home.start(['run']);
  await until('the daemon to be healthy', async () => (await home.sluice(['health'])).code === 0);

  await home.config({ ...config, nonsense: true });
  const { code, stdout, stderr } = await home.sluice(['status']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^CONFIG_\w+: .*\n {2}where .*yaml:\d+/) });
  expect(stdout).toMatch(
    new RegExp(`^The daemon \\(process ${daemon.child.pid}\\) has been running since .*the file has been edited since`),
  );
  expect(stdout).toMatch(/^orders +delivered +\d{4}-.* +20\d\d-01-01 00:00:00Z/m);
  expect(stdout).toMatch(/^lost +failed .*none\.csv/m);
  expect(stdout).toMatch(/^idle +never ran +– +20\d\d-01-01 00:00:00Z/m);
  expect(stdout).toContain('The config cannot be loaded, so this report contains only what the state says.');
  const json = await home.sluice(['status', '--json']);
  expect(json.code).toBe(2);
  expect(JSON.parse(json.stdout)).toMatchObject({
    faults: [
      { code: expect.stringMatching(/^CONFIG_/), where: { file: expect.any(String), line: expect.any(Number) } },
    ],
    daemon: { owner: `process ${daemon.child.pid}`, config: { differs: true } },
    jobs: [
      { job: 'orders', state: 'delivered', last_run: { rows: 1 }, next_firing_at: expect.stringMatching(/-01-01T/) },
      { job: 'lost', state: 'failed' },
      { job: 'idle', state: 'never ran' },
    ],
  });

  await home.write('sluice.yaml', 'destinations: [');
  const unknown = await home.sluice(['status']);
  expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^CONFIG_SYNTAX/) });
  expect(unknown.stderr).toContain('set SLUICE_STATE to the state folder');
  const env = { SLUICE_STATE: join(home.folder, 'state') };
  expect((await home.sluice(['status'], { env })).stdout).toContain(`process ${daemon.child.pid}`);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  const stopped = await home.sluice(['status'], { env });
  expect(stopped).toMatchObject({ code: 2, stderr: expect.stringMatching(/^CONFIG_SYNTAX/) });
  expect(stopped.stdout).toMatch(/^No daemon is running for this state\.\n\njob .*(.*\n)*orders +delivered/);
  expect(stopped.stdout).not.toMatch(/^idle/m);
  await home.write('sluice.yaml', 'state: elsewhere\nnonsense: true\n');
  const nothing = await home.sluice(['status', '--json']);
  expect(nothing.code).toBe(2);
  expect(JSON.parse(nothing.stdout)).toMatchObject({ faults: expect.any(Array), jobs: [] });
});

it('sources and status exit with 2 if part of the config has an error, and still list the rest', async () => {
  const world = await makeWorld();
  const home = await world.home();
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' }, rates: { connector: 'fle' } },
    jobs: { orders: { source: 'files', query: 'rows.csv', format: 'csv', target: world.instances.csv } },
  });
  for (const command of ['status', 'sources']) {
    for (const flags of [[], ['--json']]) {
      const { code, stdout } = await home.sluice([command, ...flags]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringMatching(/files|orders/) });
    }
  }
});
