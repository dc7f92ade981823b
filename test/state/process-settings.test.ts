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
  await b.processSettings.removeGone();
  expect(await b.processSettings.find('config', '["a"]')).toBeUndefined();
  expect(await b.processSettings.find('config', '["b"]')).toBe('x');
  await b.processSettings.forget();
  expect((await b.settings.below('p')).map(({ name }) => name)).toEqual(['processes']);
});

it('a process that was silent keeps its settings for an hour, because it may still be alive', async () => {
  const [folder, clock] = [newFolder(), new SteppingClock()];
  const open = (self: string) => {
    const stateOf = (owner: string) => (owner === self ? 'alive' : 'unknown');
    return newStore({ folder, clock, processes: { self, boot: 'boot-1', stateOf, sharesBoot: () => true } });
  };
  const [a, b] = [await open('["a"]'), await open('["b"]')];
  await a.heartbeats.beat();
  await a.processSettings.set('config', 'of a');
  for (const ms of [200_000, 3_300_000]) {
    clock.advance(ms);
    await b.processSettings.removeGone();
    await (await open('["c"]')).heartbeats.beat();
    expect(await b.processSettings.all('config'), 'it counts as dead').toEqual([]);
  }
  await a.heartbeats.beat();
  expect(await b.processSettings.all('config')).toEqual([{ owner: '["a"]', value: 'of a' }]);
  clock.advance(3_700_000);
  await b.processSettings.removeGone();
  expect(await b.processSettings.find('config', '["a"]')).toBeUndefined();
});
