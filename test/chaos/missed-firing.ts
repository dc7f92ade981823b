import { join } from 'node:path';
import { expect } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { scheduleKey } from '../../src/schedule/schedule.ts';
import { openStore } from '../../src/state/store.ts';
import type { Home } from '../journey/home.ts';
import type { Scope, Start } from '../journey/process.ts';
import { adminKey, until, type World } from '../journey/world.ts';

/** A home with one job. */
export interface Place {
  readonly home: Home;
  readonly instance: string;
}

interface Given {
  readonly world: World;
  /** The time of the only firing. */
  readonly firedAt: number;
  readonly source: object;
  readonly format: 'csv' | 'json';
  readonly path: string;
  /** More options of the query and of the job. */
  readonly query?: object;
  readonly job?: object;
  readonly top?: object;
}

/** A home whose yearly job missed a firing, which is the first thing that a daemon runs. */
export async function missFiring(own: Scope, given: Given): Promise<Place> {
  const { world, firedAt, source, format, path, query, top } = given;
  const [home, instance] = [await world.home(own), await world.instance(format)];
  const read = { source: 'only', query: { path, ...query } };
  const job = { ...read, format, target: instance, schedule: '0 0 1 11 *', ...given.job };
  const file = await home.config({
    timezone: 'UTC',
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { only: source },
    jobs: { yearly: job },
    ...top,
  });
  const { config } = await loadConfig(file);
  const store = await openStore(config!.state, { clock: systemClock });
  const schedule = scheduleKey(config!.jobs.get('yearly')!.schedule!);
  await store.schedules.set({ job: 'yearly', schedule, next_at: firedAt });
  await store.close();
  return { home, instance };
}

/** Runs a daemon until the job has such a run, then stops it as an operator would. */
export async function live({ home }: Place, wanted: 'failed' | 'delivered', how: Start = {}): Promise<void> {
  const daemon = home.start(['run'], { ...how, serves: true });
  await until(`a run in the state ${wanted}`, () => home.state().runs.some(({ state }) => state === wanted));
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
}

/** Runs a daemon until it dies at a step. */
export async function die({ home }: Place, step: string, how: Start): Promise<void> {
  const daemon = home.start(['run'], { ...how, serves: true });
  await until(`the daemon to die at ${step}`, () => daemon.child.signalCode !== null);
}

export function inState<T>({ home: { folder } }: Place, look: (database: SqliteDatabase) => T): T {
  const database = new SqliteDatabase(join(folder, 'state', 'sluice.db'));
  try {
    return look(database);
  } finally {
    database.close();
  }
}
