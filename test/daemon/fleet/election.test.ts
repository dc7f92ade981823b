import { afterEach, expect, it } from 'vitest';
import { Election } from '../../../src/daemon/fleet/election.ts';
import { until } from '../../journey/process.ts';
import { cleanUp, newFolder, newStore, Population } from '../../state/fixtures.ts';

afterEach(cleanUp);

it('a process that fails to plan leaves the lock to one that can', async () => {
  const [folder, people] = [newFolder(), new Population()];
  let holder: string | undefined;
  const lockOf = (name: string) => ({
    async tryAcquire() {
      holder ??= name;
      return holder === name;
    },
    async close() {
      if (holder === name) holder = undefined;
    },
  });
  const stop = new AbortController();
  const [failures, planners]: [unknown[], string[]] = [[], []];
  const begin = async (name: string, elected: () => Promise<void>) => {
    const store = await newStore({ folder, processes: people.member(name) });
    const election = new Election({
      ...{ store, clock: store.clock, lock: lockOf(name), stop: stop.signal, elected },
      resigned: async () => void planners.push(`not ${name}`),
      failed: (error) => failures.push(error),
    });
    election.start();
    return election;
  };
  const broken = await begin('broken', () => Promise.reject(new Error('no schedules')));
  await until('the first one to fail', () => failures.length > 0);
  const works = await begin('works', async () => void planners.push('works'));
  await until('the second one to have the lock and to plan', () => holder === 'works' && planners.length > 0);
  stop.abort();
  await Promise.all([broken.close(), works.close()]);
  expect(planners).toEqual(['works']);
});

it("a process that was suspended doesn't take planning back from the one that plans now", async () => {
  const [folder, people] = [newFolder(), new Population()];
  const store = await newStore({ folder, processes: people.member('suspended') });
  const [stop, seen] = [new AbortController(), [] as string[]];
  const election = new Election({
    ...{ store, clock: store.clock, stop: stop.signal },
    // Its connection stayed open, so it still holds the lock.
    lock: { tryAcquire: async () => true, close: async () => undefined },
    elected: async () => void seen.push('elected'),
    resigned: async () => void seen.push('resigned'),
    failed: (error) => seen.push(String(error)),
  });
  election.start();
  await until('it to plan', () => seen.length === 1);
  const other = await newStore({ folder, processes: people.member('other') });
  people.dead.add('suspended');
  const lease = (await other.leases.take('daemon'))!;
  people.dead.delete('suspended');
  await until('it to resign', () => seen.length === 2);
  await store.clock.sleep(1_200);
  expect(await other.leases.isHeld(lease)).toBe(true);
  await lease.release();
  await until('it to plan again', () => seen.length === 3);
  stop.abort();
  await election.close();
  expect(seen).toEqual(['elected', 'resigned', 'elected']);
});
