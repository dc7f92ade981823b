import { afterEach, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

const hour = 3_600_000;

it('current throttles are replaced as a whole, but unchanged throttles keep their start time, and all stay in the history', async () => {
  const clock = new SteppingClock();
  const { throttledJobs } = await newStore({ clock });
  const began = clock.now();
  const until = began + 10 * hour;
  const of = (job: string, every: number) => ({ job, every, message: `${job} ${every}`, until });
  await throttledJobs.replace([of('a', 2), of('b', 3)]);
  clock.advance(hour);
  await throttledJobs.replace([of('a', 2), of('b', 4), of('c', 0)]);
  expect((await throttledJobs.now()).map(({ job, every, since }) => [job, every, since])).toEqual([
    ['a', 2, began],
    ['b', 4, began + hour],
    ['c', 0, began + hour],
  ]);
  expect(await throttledJobs.history({ job: 'b', limit: 9 })).toMatchObject([
    { every: 4, ended_at: null },
    { every: 3, since: began, ended_at: began + hour },
  ]);
  clock.advance(9 * hour);
  expect(await throttledJobs.now(), 'a new day has begun').toEqual([]);
});

it('thousands of current throttles are all kept, but their history is limited', async () => {
  const clock = new SteppingClock();
  const { throttledJobs } = await newStore({ clock });
  const jobs = Array.from({ length: 3_000 }, (_, i) => `job-${i}`);
  for (let every = 2; every < 5; every++) {
    const until = clock.now() + hour;
    await throttledJobs.replace(jobs.map((job) => ({ job, every, message: '', until })));
  }
  expect(await throttledJobs.now()).toHaveLength(3_000);
  expect(await throttledJobs.history({ limit: 100_000 })).toHaveLength(5_000);
});
