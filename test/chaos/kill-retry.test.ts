import { beforeAll, expect, it } from 'vitest';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { forTest, type Scope } from '../journey/process.ts';
import { forSuite, makeWorld, type World } from '../journey/world.ts';
import { die, inState, live, missFiring, type Place } from './missed-firing.ts';
import { handOf, seeds } from './seeds.ts';
import { dieAt, stepsOf } from './stage.ts';

const scope = forSuite();
let world: World;
/** A daemon's durable steps and events, from the firing to the receipt. */
let steps: readonly string[];

/** The time of the only firing. It was missed, so a daemon runs it first. */
const firedAt = Date.parse('2026-11-01T00:00:00Z');

interface RestPlace extends Place {
  readonly source: TestServer;
}

/** A yearly job whose source rejects the first two requests. */
async function makePlace(own: Scope): Promise<RestPlace> {
  const source = await new TestServer().start();
  own(() => source.stop());
  source.answer = (_, response, number) => {
    if (number > 2) return sendJson(response, [{ id: 1 }]);
    response.statusCode = 503;
    response.end();
  };
  const api = { connector: 'simple_rest', url: source.url, retries: 0 };
  const top = { retry: { first: '1s', longest: '1s' } };
  return { ...(await missFiring(own, { world, firedAt, source: api, format: 'json', path: '/', top })), source };
}

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
  const place = await makePlace(scope);
  await live(place, 'delivered', dieAt(place, ''));
  const all = await stepsOf(place);
  const firing = all.slice(all.indexOf('say run.started #1'), all.indexOf('say payload.delivered #1'));
  steps = firing.filter((step) => /^(commit|say) /.test(step) && !/heartbeat|owners|settings/.test(step));
});

it('a firing with two retries commits and logs each attempt', () => {
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

/** The firing was delivered once and has no other results, and nothing is waiting. */
async function expectOneDelivery(place: RestPlace, step: string): Promise<void> {
  const { home, instance, source } = place;
  const { runs, outbox } = home.state();
  expect(outbox, step).toMatchObject([{ state: 'delivered' }]);
  // If the process died during a run, the run starts again, as any run does. A run that was waiting continues.
  const codes = runs.filter(({ state }) => state !== 'delivered').map(({ code }) => code);
  expect([[], ['RUN_INTERRUPTED']], step).toContainEqual(codes);
  expect(runs.length - codes.length, step).toBe(1);
  expect(new Set(runs.map(({ fired_at }) => fired_at)), step).toEqual(new Set([firedAt]));
  expect(source.requests.length, step).toBeLessThanOrEqual(4);
  const retries = inState(place, (database) => database.prepare('select * from retries').all());
  expect(retries, step).toEqual([]);
  expect(await world.data(instance), step).toContain('"id":1');
}

it.for(seeds)(
  'a daemon killed before any step of a retried firing delivers that firing once after its next start (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    for (const step of handOf(seed, steps)) {
      const place = await makePlace(forTest);
      await die(place, step, dieAt(place, step));
      await live(place, 'delivered');
      await expectOneDelivery(place, step);
    }
  },
);
