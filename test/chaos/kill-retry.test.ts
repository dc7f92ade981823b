import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { scheduleKey } from '../../src/schedule/schedule.ts';
import { openStore } from '../../src/state/store.ts';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import type { Home } from '../journey/home.ts';
import { forTest, type Scope } from '../journey/process.ts';
import { adminKey, forSuite, makeWorld, until, type World } from '../journey/world.ts';
import { handOf, seeds } from './seeds.ts';
import { dieAt, stepsOf } from './stage.ts';

const scope = forSuite();
let world: World;
/** What a daemon does with its state, and what it says, from the firing to the receipt. */
let steps: readonly string[];

/** The instant of the only firing: it was missed, so it is the first thing that a daemon does. */
const firedAt = Date.parse('2026-11-01T00:00:00Z');

interface Place {
  readonly home: Home;
  readonly instance: string;
  readonly source: TestServer;
}

/** A daily job whose source refuses the first two requests. */
async function makePlace(own: Scope): Promise<Place> {
  const source = await new TestServer().start();
  own(() => source.stop());
  source.answer = (_, response, number) => {
    if (number > 2) return sendJson(response, [{ id: 1 }]);
    response.statusCode = 503;
    response.end();
  };
  const [home, instance] = [await world.home(own), await world.instance('json')];
  const job = { source: 'api', query: { path: '/' }, format: 'json', target: instance, schedule: '0 0 1 11 *' };
  const file = await home.config({
    timezone: 'UTC',
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { api: { connector: 'simple_rest', url: source.url, retries: 0 } },
    retry: { first: '1s', longest: '1s' },
    jobs: { yearly: job },
  });
  const { config } = await loadConfig(file);
  const store = await openStore(config!.state, { clock: systemClock });
  const schedule = scheduleKey(config!.jobs.get('yearly')!.schedule!);
  await store.schedules.set({ job: 'yearly', schedule, next_at: firedAt });
  await store.close();
  return { home, instance, source };
}

const isDelivered = ({ home }: Place): boolean => home.state().runs.some(({ state }) => state === 'delivered');

/** Lets a daemon run until the firing is delivered, and ends it as an operator would. */
async function deliver(place: Place, how: Parameters<Home['start']>[1] = {}): Promise<void> {
  const daemon = place.home.start(['run'], { ...how, serves: true });
  await until('the firing to be delivered', () => isDelivered(place));
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
}

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
  const place = await makePlace(scope);
  await deliver(place, dieAt(place, ''));
  const all = await stepsOf(place);
  const firing = all.slice(all.indexOf('say run.started #1'), all.indexOf('say payload.delivered #1'));
  steps = firing.filter((step) => /^(commit|say) /.test(step) && !/heartbeat|owners|settings/.test(step));
}, 120_000);

it('a firing that is tried again is a list of commits and events', () => {
  for (const step of [
    'say extract.failed #1',
    'commit insert into retries #1',
    'say run.retrying #1',
    'say run.started #2',
    'commit insert into retries #2',
    'say run.retrying #2',
    'say run.started #3',
    'say payload.owed #1',
  ]) {
    expect(steps).toContain(step);
  }
});

/** The firing has been delivered once, and nothing else has come of it or waits. */
async function expectOneDelivery({ home, instance, source }: Place, step: string): Promise<void> {
  const { runs, outbox } = home.state();
  expect(outbox, step).toMatchObject([{ state: 'delivered' }]);
  // A run whose process died under it is begun again, as any other; one that waited goes on.
  const codes = runs.filter(({ state }) => state !== 'delivered').map(({ code }) => code);
  expect([[], ['RUN_INTERRUPTED']], step).toContainEqual(codes);
  expect(runs.length - codes.length, step).toBe(1);
  expect(new Set(runs.map(({ fired_at }) => fired_at)), step).toEqual(new Set([firedAt]));
  expect(source.requests.length, step).toBeLessThanOrEqual(4);
  const database = new SqliteDatabase(join(home.folder, 'state', 'sluice.db'));
  expect(database.prepare('select * from retries').all(), step).toEqual([]);
  database.close();
  expect(await world.data(instance), step).toContain('"id":1');
}

it.for(seeds)(
  'a daemon that is killed before each of them delivers the firing once, after its next start (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    for (const step of handOf(seed, steps)) {
      const place = await makePlace(forTest);
      const daemon = place.home.start(['run'], { ...dieAt(place, step), serves: true });
      await until(`the daemon to die at ${step}`, () => daemon.child.signalCode !== null);
      await deliver(place);
      await expectOneDelivery(place, step);
    }
  },
);
