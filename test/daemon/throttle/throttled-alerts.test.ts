import { afterEach, expect, it } from 'vitest';
import type { Snapshot } from '../../../src/daemon/conditions/condition.ts';
import { QuotaShortages } from '../../../src/daemon/conditions/quota-short.ts';
import { Staleness } from '../../../src/daemon/conditions/staleness.ts';
import { reportAccounts } from '../../../src/daemon/report/report-accounts.ts';
import { SteppingClock } from '../../clocks.ts';
import { cleanUp, newStore } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, Source } from '../rig.ts';

afterEach(cleanUp);

const minute = 60_000;
const hour = 60 * minute;
const midnight = Date.parse('2026-06-15T04:00Z');
const turn = midnight + 24 * hour;

async function setUp(requestsPerDay = 1000) {
  const clock = new SteppingClock(midnight);
  const store = await newStore({ clock });
  const destination = destinationOf('http://127.0.0.1:9', { requestsPerDay, whenShort: 'throttle' });
  const source = new Source();
  const job = jobOf({ name: 'orders', destination, instance: 'i', source, cron: '0 * * * *' });
  const config = configOf('/nowhere', [job]);
  const ground = async () => {
    const throttles = await store.throttledJobs.now();
    const overview = {
      now: clock.now(),
      accounts: await reportAccounts(config, store, clock),
      publishedAsOf: () => midnight,
      waitingOf: () => [],
      throttle: (name: string) => throttles.find((one) => one.job === name),
    };
    return { config, store, overview, jobs: [job], needy: [] } as unknown as Snapshot;
  };
  const staleness = new Staleness();
  const isStaleAt = async (at: number) => {
    clock.advance(at - clock.now());
    return (await staleness.find(await ground())).length > 0;
  };
  const throttle = (every: number) => store.throttledJobs.replace([{ job: 'orders', every, message: '', until: turn }]);
  return { clock, store, ground, isStaleAt, throttle };
}

it('a throttled job is late after it misses three of its remaining firings', async () => {
  const plain = await setUp();
  expect(await plain.isStaleAt(midnight + 3 * hour - 1)).toBe(false);
  expect(await plain.isStaleAt(midnight + 3 * hour)).toBe(true);
  const throttled = await setUp();
  await throttled.throttle(4);
  expect(await throttled.isStaleAt(midnight + 12 * hour - 1)).toBe(false);
  expect(await throttled.isStaleAt(midnight + 12 * hour)).toBe(true);
});

it('a job that rests or is no longer throttled is late only after it had time to run the next day', async () => {
  const resting = await setUp();
  await resting.throttle(0);
  expect(await resting.isStaleAt(turn - 1)).toBe(false);
  expect(await resting.isStaleAt(turn + 3 * hour - 1)).toBe(false);
  expect(await resting.isStaleAt(turn + 3 * hour)).toBe(true);
  const relaxed = await setUp();
  await relaxed.throttle(9);
  expect(await relaxed.isStaleAt(midnight + 8 * hour)).toBe(false);
  await relaxed.store.throttledJobs.replace([]);
  expect(await relaxed.isStaleAt(midnight + 11 * hour - 1)).toBe(false);
  expect(await relaxed.isStaleAt(midnight + 11 * hour)).toBe(true);
});

it('an allowance that lasts thanks to throttling is reported as such; otherwise, the alert says when it will run out', async () => {
  const reaches = await setUp(10);
  expect(await new QuotaShortages().find(await reaches.ground())).toMatchObject([
    {
      kind: 'quota',
      level: 'warning',
      what: expect.stringContaining('too few are left for all scheduled runs, so a job runs less often'),
    },
  ]);
  const vip = await setUp(10);
  const ground = await vip.ground();
  const jobs = new Map([...ground.config.jobs].map(([name, job]) => [name, { ...job, priority: 'high' as const }]));
  expect(await new QuotaShortages().find({ ...ground, config: { ...ground.config, jobs } })).toMatchObject([
    { level: 'warning', what: expect.stringContaining('at this rate, the requests will run out at about') },
  ]);
  const enough = await setUp(1000);
  expect(await new QuotaShortages().find(await enough.ground())).toEqual([]);
});
