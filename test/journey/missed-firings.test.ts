import { expect, it } from 'vitest';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { forTest } from './process.ts';
import { adminKey, makeWorld, until } from './world.ts';

/** Makes a process see this time as the current time. */
const at = (instant: string) => ({
  preload: ['shifted-clock'],
  env: { CLOCK_SHIFT_MS: String(Date.parse(instant) - Date.now()) },
});

it("a restarted daemon catches up once for each hour missed in the night of a clock change, with that hour's dates", async () => {
  const source = await new TestServer().start();
  forTest(() => source.stop());
  source.answer = (url, response) => sendJson(response, [{ asked: url.search }]);
  const world = await makeWorld();
  const home = await world.home();
  await home.config({
    timezone: 'Europe/Berlin',
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { api: { connector: 'simple_rest', url: source.url } },
    jobs: {
      hours: {
        source: 'api',
        query: { path: '/hour?at={{ now }}&day={{ today }}' },
        format: 'json',
        target: world.instances.json,
        schedule: { every: '1h', misfire: { policy: 'run_all', within: '12h' } },
      },
    },
  });
  const evening = at('2026-03-28T22:30:00Z');
  const first = home.start(['run'], { ...evening, serves: true });
  await until('the schedules to tick', async () => (await home.sluice(['health'], evening)).code === 0);
  first.child.kill('SIGKILL');
  await first.ended;
  expect(source.requests).toEqual([]);

  const morning = at('2026-03-29T02:15:00Z');
  const second = home.start(['run'], { ...morning, serves: true });
  await until('four finished runs', () => home.state().runs.filter(({ ended_at }) => ended_at !== null).length === 4);
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
  expect(source.requests.map(({ url }) => decodeURIComponent(url))).toEqual([
    '/hour?at=2026-03-28T23:00:00Z&day=2026-03-29',
    '/hour?at=2026-03-29T00:00:00Z&day=2026-03-29',
    '/hour?at=2026-03-29T01:00:00Z&day=2026-03-29',
    '/hour?at=2026-03-29T02:00:00Z&day=2026-03-29',
  ]);
  expect(await world.data(world.instances.json)).toContain('at=2026-03-29T02:00:00Z');
});
