import { beforeAll, expect, it } from 'vitest';
import { openFtpScript } from '../connectors/ftp-script.ts';
import { forTest, type Scope } from '../journey/process.ts';
import { forSuite, makeWorld, type World } from '../journey/world.ts';
import { die, inState, live, missFiring, type Place } from './missed-firing.ts';
import { handOf, seeds } from './seeds.ts';
import { dieAt, stepsOf } from './stage.ts';

const scope = forSuite();
let world: World;
/** The durable steps of two daemons: the first one's login is refused; the second one starts later and logs in. */
let steps: readonly { readonly life: 'refused' | 'accepted'; readonly step: string }[];

/** The time of the only firing. It was missed, so a daemon runs it first. */
const year = new Date().getUTCFullYear();
const firedAt = [year, year - 1].map((each) => Date.UTC(each, 10, 1)).find((at) => at < Date.now())!;

interface RefusedPlace extends Place {
  /** After this, the server accepts the password, and the hold on the login allows the next attempt. */
  accept(): void;
}

/** A yearly job whose server refuses the password. */
async function makePlace(own: Scope): Promise<RefusedPlace> {
  let isRight = false;
  const reply = (verb: string) => (verb === 'PASS' && !isRight ? '530 Login incorrect.' : undefined);
  const server = await openFtpScript({ files: new Map([['/a.csv', 'x\n1\n']]), reply });
  own(() => server.close());
  const source = { connector: 'ftp', ...server.source };
  const place = await missFiring(own, { world, firedAt, source, format: 'csv', path: 'a.csv' });
  const accept = (): void => {
    isRight = true;
    inState(place, (database) => database.exec('update login_holds set retry_at = 1'));
  };
  return { ...place, accept };
}

const deferredIn = (place: Place) =>
  inState(place, (database) => database.prepare('select job, at from deferred_firings').all());

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
  const place = await makePlace(scope);
  await live(place, 'failed', dieAt(place, ''));
  const refused = await stepsOf(place);
  expect(deferredIn(place)).toEqual([{ job: 'yearly', at: firedAt }]);
  place.accept();
  await live(place, 'delivered', dieAt(place, ''));
  const accepted = (await stepsOf(place)).slice(refused.length);
  const own = (all: readonly string[]) =>
    all.filter((step) => /^commit .*(schedules|runs|login_holds|deferred_firings)/.test(step));
  // Starts at the commit that starts the run.
  const toRefusal = refused.slice(refused.indexOf('say run.started #1') - 1, refused.indexOf('say run.finished #1'));
  const toPayload = accepted.slice(0, accepted.indexOf('say payload.owed #1'));
  steps = [
    ...own(toRefusal).map((step) => ({ life: 'refused', step }) as const),
    ...own(toPayload).map((step) => ({ life: 'accepted', step }) as const),
  ];
});

it("a firing that waits for its login is recorded, and the daemon's next start deletes the record", () => {
  expect(steps).toContainEqual({ life: 'refused', step: 'commit insert into deferred_firings #1' });
  expect(steps).toContainEqual({ life: 'accepted', step: 'commit insert into schedules #1' });
});

it.for(seeds)(
  'a firing that waits for its login is delivered once, no matter where earlier daemons were killed (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    for (const { life, step } of handOf(seed, steps)) {
      const place = await makePlace(forTest);
      const { home, instance, accept } = place;
      if (life === 'accepted') {
        await live(place, 'failed');
        accept();
      }
      await die(place, step, dieAt(place, step));
      accept();
      await live(place, 'delivered');
      const { runs, outbox } = home.state();
      expect(outbox, step).toMatchObject([{ state: 'delivered' }]);
      expect(
        runs.filter(({ state }) => state === 'delivered'),
        step,
      ).toHaveLength(1);
      expect(new Set(runs.map(({ fired_at }) => fired_at)), step).toEqual(new Set([firedAt]));
      expect(deferredIn(place), step).toEqual([]);
      expect(await world.data(instance), step).toBe('x\n1\n');
    }
  },
);
