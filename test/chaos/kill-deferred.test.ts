import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { scheduleKey } from '../../src/schedule/schedule.ts';
import { openStore } from '../../src/state/store.ts';
import { openFtpScript } from '../connectors/ftp-script.ts';
import type { Home } from '../journey/home.ts';
import { forTest, type Running, type Scope, type Start } from '../journey/process.ts';
import { adminKey, forSuite, makeWorld, until, type World } from '../journey/world.ts';
import { handOf, seeds } from './seeds.ts';
import { dieAt, stepsOf } from './stage.ts';

const scope = forSuite();
let world: World;
/** What two daemons do with their state: the one whose login is refused, and the one that starts after it and logs in. */
let steps: readonly { readonly life: 'refused' | 'accepted'; readonly step: string }[];

/** The instant of the only firing: it was missed, so it is the first thing that a daemon does. */
const year = new Date().getUTCFullYear();
const firedAt = [year, year - 1].map((each) => Date.UTC(each, 10, 1)).find((at) => at < Date.now())!;

interface Place {
  readonly home: Home;
  readonly instance: string;
  /** From now on the server takes the password, and the hold on the login lets the next attempt go. */
  accept(): void;
}

/** A yearly job whose server refuses the password. */
async function makePlace(own: Scope): Promise<Place> {
  let isRight = false;
  const reply = (verb: string) => (verb === 'PASS' && !isRight ? '530 Login incorrect.' : undefined);
  const server = await openFtpScript({ files: new Map([['/a.csv', 'x\n1\n']]), reply });
  own(() => server.close());
  const [home, instance] = [await world.home(own), await world.instance('csv')];
  const job = { source: 'files', query: { path: 'a.csv' }, format: 'csv', target: instance, schedule: '0 0 1 11 *' };
  const file = await home.config({
    timezone: 'UTC',
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'ftp', ...server.source } },
    jobs: { yearly: job },
  });
  const { config } = await loadConfig(file);
  const store = await openStore(config!.state, { clock: systemClock });
  const schedule = scheduleKey(config!.jobs.get('yearly')!.schedule!);
  await store.schedules.set({ job: 'yearly', schedule, next_at: firedAt });
  await store.close();
  const accept = (): void => {
    isRight = true;
    inState(home, (database) => database.exec('update login_holds set retry_at = 1'));
  };
  return { home, instance, accept };
}

function inState<T>({ folder }: Home, look: (database: SqliteDatabase) => T): T {
  const database = new SqliteDatabase(join(folder, 'state', 'sluice.db'));
  try {
    return look(database);
  } finally {
    database.close();
  }
}

const deferredIn = (home: Home) =>
  inState(home, (database) => database.prepare('select job, at from deferred_firings').all());

const hasRun = ({ home }: Place, wanted: string): boolean => home.state().runs.some(({ state }) => state === wanted);

/** Lets a daemon run until the job has such a run, and ends it as an operator would. */
async function live(place: Place, wanted: 'failed' | 'delivered', how: Start = {}): Promise<void> {
  const daemon = place.home.start(['run'], { ...how, serves: true });
  await until(`a run that is ${wanted}`, () => hasRun(place, wanted));
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
}

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
  const place = await makePlace(scope);
  await live(place, 'failed', dieAt(place, ''));
  const refused = await stepsOf(place);
  expect(deferredIn(place.home)).toEqual([{ job: 'yearly', at: firedAt }]);
  place.accept();
  await live(place, 'delivered', dieAt(place, ''));
  const accepted = (await stepsOf(place)).slice(refused.length);
  const own = (all: readonly string[]) =>
    all.filter((step) => /^commit .*(schedules|runs|login_holds|deferred_firings)/.test(step));
  // From the commit that begins the run.
  const toRefusal = refused.slice(refused.indexOf('say run.started #1') - 1, refused.indexOf('say run.finished #1'));
  const toPayload = accepted.slice(0, accepted.indexOf('say payload.owed #1'));
  steps = [
    ...own(toRefusal).map((step) => ({ life: 'refused', step }) as const),
    ...own(toPayload).map((step) => ({ life: 'accepted', step }) as const),
  ];
}, 120_000);

it('a firing that waits for its login is written down, and taken back by the next start', () => {
  expect(steps).toContainEqual({ life: 'refused', step: 'commit insert into deferred_firings #1' });
  expect(steps).toContainEqual({ life: 'accepted', step: 'commit insert into schedules #1' });
});

async function untilKilled(daemon: Running, step: string): Promise<void> {
  await until(`the daemon to die at ${step}`, () => daemon.child.signalCode !== null);
}

it.for(seeds)(
  'a firing that waits for its login is delivered once, wherever the daemons before were killed (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    for (const { life, step } of handOf(seed, steps)) {
      const place = await makePlace(forTest);
      const { home, instance, accept } = place;
      if (life === 'accepted') {
        await live(place, 'failed');
        accept();
      }
      await untilKilled(home.start(['run'], { ...dieAt(place, step), serves: true }), step);
      accept();
      await live(place, 'delivered');
      const { runs, outbox } = home.state();
      expect(outbox, step).toMatchObject([{ state: 'delivered' }]);
      expect(
        runs.filter(({ state }) => state === 'delivered'),
        step,
      ).toHaveLength(1);
      expect(new Set(runs.map(({ fired_at }) => fired_at)), step).toEqual(new Set([firedAt]));
      expect(deferredIn(home), step).toEqual([]);
      expect(await world.data(instance), step).toBe('x\n1\n');
    }
  },
);
