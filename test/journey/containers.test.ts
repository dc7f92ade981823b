import { describe, expect, it } from 'vitest';
import { firstProcess as container, noFirstProcess } from './first-process.ts';
import { until } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

describe('two containers that share a state folder and run Sluice as process 1', () => {
  it("see that each other's processes are alive, refuse a second daemon, and leave each other's work alone", async ({
    skip,
  }) => {
    const reason = noFirstProcess();
    if (reason !== undefined) return skip(reason);
    const world = await makeWorld();
    const home = await world.home();
    await home.write('rows.csv', 'id\n1\n');
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' } },
      jobs: { orders: { source: 'files', query: 'rows.csv', format: 'csv', target: world.instances.csv } },
    });
    const first = home.start(['run'], { under: container });
    await until('the first daemon to be healthy', async () => (await home.sluice(['health'])).code === 0);
    const health = ['health', '--json'];
    for (const how of [{}, { under: container }]) {
      const seen = JSON.parse((await home.sluice(health, how)).stdout) as { findings: unknown };
      expect(JSON.stringify(seen)).toMatch(/process 1\b.*the schedules are running/);
    }
    const sync = await home.sync({ under: container });
    expect(sync.jobs).toMatchObject([{ state: 'delivered' }]);
    const second = await home.sluice(['run'], { under: container });
    expect(second).toMatchObject({ code: 2, stderr: expect.stringMatching(/DAEMON_RUNNING[\s\S]*process 1 /) });
    expect(first.child.exitCode).toBeNull();
    expect((await home.sluice(['health'], { under: container })).code).toBe(0);
  });
});
