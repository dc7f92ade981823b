import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { forTest, makeFolder, type Scope } from '../journey/process.ts';
import { forSuite, makeWorld, until, type World } from '../journey/world.ts';
import { die, missFiring, type Place } from './missed-firing.ts';
import { handOf, seeds } from './seeds.ts';

const scope = forSuite();
let world: World;
/** A daemon's durable steps and events, from the finished result to the end of the move. */
let steps: readonly string[];

/** The time of the only firing. It was missed, so a daemon runs it first. */
const firedAt = Date.parse('2026-11-01T00:00:00Z');

interface FilePlace extends Place {
  /** The file that lists the steps. */
  readonly steps: string;
}

/** A yearly job that appends a file's rows and moves the file to another folder. */
async function makePlace(own: Scope): Promise<FilePlace> {
  const query = { files: 'changed', after_delivery: 'move', move_to: 'done/{name}' };
  const job = { write: 'append' };
  const source = { connector: 'file' };
  const place = await missFiring(own, { world, firedAt, source, format: 'csv', path: 'in/*.csv', query, job });
  await mkdir(join(place.home.folder, 'in'));
  await writeFile(join(place.home.folder, 'in', 'a.csv'), 'x\n1\n');
  return { ...place, steps: join(await makeFolder(own), 'steps') };
}

/** How to start a process that dies before a step in the home, whether in the state's folder or not. */
function dieAt({ home, steps: list }: FilePlace, step: string) {
  return { preload: ['die-at-step'], env: { STEPS_UNDER: home.folder, STEPS_FILE: list, DIE_AT: step } };
}

const at = ({ home }: Place, ...names: readonly string[]) => join(home.folder, 'in', ...names);

/** Runs a daemon until nothing is left to do, then stops it as an operator would. */
async function live(place: Place, how = {}): Promise<void> {
  const daemon = place.home.start(['run'], { ...how, serves: true });
  const isMoved = () => !existsSync(at(place, 'a.csv')) && existsSync(at(place, 'done', 'a.csv'));
  const isForgotten = () => place.home.state().watermarks.every(({ text }) => !text.includes('pending'));
  // Before the daemon has started, it can't be stopped as an operator would.
  const isDone = () => daemon.output().includes('daemon.started') && isMoved() && isForgotten();
  await until('the file to be moved', isDone, { seen: daemon.output });
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
}

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
  const place = await makePlace(scope);
  await live(place, dieAt(place, ''));
  const all = (await readFile(place.steps, 'utf8')).split('\n');
  const moving = all.slice(all.indexOf('say payload.spooled #1'), all.indexOf('say source.updated #1') + 1);
  steps = moving.filter((step) => !/heartbeat|owners|progressed/.test(step));
});

it('a file is moved in durable steps between the receipt and the end of the action', () => {
  const order = ['say payload.owed #1', 'say payload.delivered #1', 'link payload #1', 'say source.updated #1'];
  expect(steps.filter((step) => order.includes(step))).toEqual(order);
  expect(steps).toContain('commit update watermarks set #1');
});

it.for(seeds)(
  'a daemon killed before any step moves a file only after its delivery, and delivers it once (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    for (const step of handOf(seed, steps)) {
      const place = await makePlace(forTest);
      await die(place, step, dieAt(place, step));
      const isDelivered = place.home.state().outbox.some(({ state }) => state === 'delivered');
      if (!isDelivered) expect(await readdir(at(place)), step).toEqual(['a.csv']);
      await live(place);
      expect(await world.data(place.instance), step).toBe('x\n1\n');
      expect(place.home.state().outbox, step).toMatchObject([{ state: 'delivered' }]);
      expect(await readdir(at(place)), step).toEqual(['done']);
      expect(await readdir(at(place, 'done')), step).toEqual(['a.csv']);
    }
  },
);
