import { afterEach, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newFolder, newStore, Population } from './fixtures.ts';

afterEach(cleanUp);

/** Two processes that use the same state. */
async function twoProcesses() {
  const [folder, clock, population] = [newFolder(), new SteppingClock(), new Population()];
  const open = (name: string) => newStore({ folder, clock, processes: population.member(name) });
  const [a, b] = [await open('["a"]'), await open('["b"]')];
  return { a, b, population };
}

it("processes don't overwrite each other's settings, and every process can read them", async () => {
  const { a, b } = await twoProcesses();
  await a.processSettings.set('config', 'of a');
  await b.processSettings.set('config', 'of b');
  await b.processSettings.set('config.shown', 'all of b');
  await a.processSettings.set('config', 'new one of a');
  expect(await b.processSettings.find('config', '["a"]')).toBe('new one of a');
  expect(await a.processSettings.find('config', '["b"]')).toBe('of b');
  expect(await a.processSettings.find('config', '["c"]')).toBeUndefined();
  expect(await b.processSettings.all('config')).toEqual([
    { owner: '["a"]', value: 'new one of a' },
    { owner: '["b"]', value: 'of b' },
  ]);
});

it("a process's settings are deleted when it stops or has died, and no others", async () => {
  const { a, b, population } = await twoProcesses();
  await a.settings.set('processes', 'kept');
  for (const store of [a, b]) {
    await store.processSettings.set('config', 'x');
    await store.processSettings.set('heartbeat', 'y');
  }
  population.dead.add('["a"]');
  expect((await b.processSettings.all('config')).map(({ owner }) => owner)).toEqual(['["b"]']);
  expect(await b.processSettings.find('config', '["a"]')).toBe('x');
  await b.processSettings.removeDead();
  expect(await b.processSettings.find('config', '["a"]')).toBeUndefined();
  expect(await b.processSettings.find('config', '["b"]')).toBe('x');
  await b.processSettings.forget();
  expect((await b.settings.below('')).map(({ name }) => name)).toEqual(['processes']);
});
