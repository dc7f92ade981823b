import { expect, it } from 'vitest';
import { withinOneDay } from '../delivery/one-day.ts';
import { until } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

interface Account {
  readonly used: number;
  readonly others: number;
}

it('the daemon learns how many requests other clients sent on its account, and status and plan show the number', async () => {
  await withinOneDay();
  const world = await makeWorld({ serve: ['--no-limits'] });
  const home = await world.home();
  const write = (limits: object) =>
    home.config({
      destinations: { main: { url: world.url, api_key: adminKey, ...limits } },
      sources: { files: { connector: 'file' } },
      jobs: Object.fromEntries(
        Object.entries(world.instances).map(([format, target]) => [
          `job-${format}`,
          { source: 'files', query: 'rows.csv', format, target, schedule: '0 0 1 1 *' },
        ]),
      ),
    });
  await home.write('rows.csv', 'id\n1\n');
  await write({ requests_per_day: 1 });
  expect((await home.syncHere()).code).toBe(4);
  for (let call = 0; call < 7; call++) await world.call('GET', '/datasources');
  await write({});
  const daemon = home.start(['run'], { serves: true });
  const account = async () => {
    const { stdout } = await home.sluice(['status', '--json']);
    return (JSON.parse(stdout) as { accounts: [Account] }).accounts[0];
  };
  await until('the daemon to ask for the usage', async () => (await account()).others > 0);
  // Requests that were in progress when the service counted may be in either count.
  expect((await account()).others).toBeGreaterThanOrEqual(7 - 5);
  await until('all payloads to be delivered', () => home.state().outbox.every(({ state }) => state === 'delivered'));
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  const asked = (await world.requests()).filter(({ path }) => path.includes('/usage-overview/api-usage'));
  expect(asked).toHaveLength(1);
  expect((await home.sluice(['status'])).stdout).toMatch(/requests used \(\d+ by others\)/);
  expect((await home.sluice(['plan'])).stdout).toMatch(/\d+ used \(\d+ by others\)/);
});

it("refreshes that are due together are sent as one request, and a failed refresh doesn't affect the other", async () => {
  const world = await makeWorld();
  const home = await world.home();
  const refresh = (id: string) => ({ target: { refresh: [id] } });
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    jobs: {
      a: refresh(world.instances.csv),
      b: refresh(world.instances.json),
      nobody: refresh('ef'.repeat(16)),
    },
  });
  const { code, jobs } = await home.syncHere();
  expect(code).toBe(1);
  expect(jobs.map(({ job, state }) => [job, state])).toEqual([
    ['a', 'refreshed'],
    ['b', 'refreshed'],
    ['nobody', 'failed'],
  ]);
  expect(jobs[2]!.problem?.code).toBe('REFRESH_FAILED');
  expect((await world.requests()).filter(({ path }) => path.endsWith('/datasources/@/refresh'))).toHaveLength(1);
});
