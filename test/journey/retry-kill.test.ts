import { expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { forTest } from './process.ts';
import { adminKey, makeWorld, until } from './world.ts';

/** The only firing of the day. */
const firing = Date.parse('2026-11-23T22:00:00Z');

/** Makes processes that start after this see a time relative to the firing. */
const clockAt = (fromFiringMs: number) => ({ CLOCK_SHIFT_MS: String(firing + fromFiringMs - Date.now()) });

it.each([
  ['when the first attempt has been recorded', 'run.retrying', 1],
  ['when the second attempt has started', 'run.started', 2],
  ['before the end of the second attempt is recorded', 'extract.failed', 2],
  ['when the second attempt has been recorded', 'run.retrying', 2],
  ['before the payload of the third attempt is owed', 'payload.spooled', 1],
  ['when the payload of the third attempt is owed', 'payload.owed', 1],
])('a daemon killed %s delivers the result only once, after the next start', async (_, event, nth) => {
  const source = await new TestServer().start();
  forTest(() => source.stop());
  source.answer = (_, response) => {
    if (source.requests.length > 2) return sendJson(response, [{ id: 1 }]);
    response.statusCode = 503;
    response.end();
  };
  const world = await makeWorld();
  const home = await world.home();
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { api: { connector: 'simple_rest', url: source.url, retries: 0 } },
    retry: { first: '1s', longest: '1s' },
    jobs: {
      nightly: {
        source: 'api',
        query: { path: '/' },
        format: 'json',
        target: world.instances.json,
        schedule: 'at 22:00',
      },
    },
  });
  // Because a daemon ran an hour earlier, the firing is due at the next start, however slow the machine is.
  const before = home.start(['run'], { preload: ['shifted-clock'], env: clockAt(-3_600_000), serves: true });
  await until('the daemon to start', () => before.output().includes('daemon.started'));
  before.child.kill('SIGTERM');
  expect((await before.ended).code).toBe(0);

  const shifted = clockAt(1000);
  const first = home.start(['run'], {
    preload: ['shifted-clock', 'kill-at'],
    env: { ...shifted, KILL_AT: event, KILL_NTH: String(nth) },
    serves: true,
  });
  expect((await first.ended).signal).toBe('SIGKILL');

  const second = home.start(['run'], { preload: ['shifted-clock'], env: shifted, serves: true });
  await until("the firing's run to be delivered", () => home.state().runs.some(({ state }) => state === 'delivered'));
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);

  const { runs, outbox } = home.state();
  expect(outbox).toHaveLength(1);
  expect(runs.filter(({ state }) => state === 'delivered')).toHaveLength(1);
  // If the process died during a run, the run starts again, as any run does. A run that was waiting continues.
  expect(runs.filter(({ state }) => state !== 'delivered').map(({ code }) => code)).toEqual(
    event === 'run.retrying' || event === 'payload.owed' ? [] : ['RUN_INTERRUPTED'],
  );
  expect(new Set(runs.map(({ fired_at }) => fired_at))).toEqual(new Set([firing]));
  const db = new SqliteDatabase(`${home.folder}/state/sluice.db`);
  expect(db.prepare('select * from retries').all()).toEqual([]);
  db.close();
  expect(await world.data(world.instances.json)).toContain('"id":1');
});
