import { afterEach, expect, it } from 'vitest';
import type { Store } from '../../src/state/store.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

async function storeWith(runs: readonly { job?: string; requests: number; state?: 'unchanged' | 'refreshed' }[]) {
  const clock = new SteppingClock();
  const store: Store = await newStore({ clock });
  for (const { job = 'orders', requests, state } of runs) {
    const run = await store.runs.begin({ job, origin: 'schedule' });
    for (let i = 0; i < requests; i++) await store.runs.countRequest(run);
    await store.runs.finish(run, { state: state ?? 'superseded' });
    clock.advance(1_000);
  }
  return store;
}

const many = (runs: number, requests: number) => Array.from({ length: runs }, () => ({ requests }));

it("retries during one outage don't raise the expected cost of later runs", async () => {
  const store = await storeWith([...many(4, 30), ...many(16, 1)]);
  expect((await store.runStats.all(200)).get('orders')).toMatchObject({ sent: 20, requests: 16 + 4 * 2 });
});

it("retries during a job's first run don't raise the expected cost of later runs", async () => {
  const store = await storeWith(many(1, 30));
  expect((await store.runStats.all(200)).get('orders')).toMatchObject({ sent: 1, requests: 2 });
});

it('retries that occur regularly count in full', async () => {
  const store = await storeWith([...many(7, 1), ...many(3, 2), ...many(10, 3).map((run) => ({ ...run, job: 'slow' }))]);
  const tallies = await store.runStats.all(200);
  expect(tallies.get('orders')).toMatchObject({ sent: 10, requests: 13 });
  expect(tallies.get('slow')).toMatchObject({ sent: 10, requests: 30 });
});

it("only each job's newest runs with each outcome are counted", async () => {
  const store = await storeWith([
    { requests: 5 },
    { requests: 1 },
    { requests: 0, state: 'unchanged' },
    { requests: 0, state: 'refreshed' },
    { job: 'idle', requests: 0, state: 'unchanged' },
  ]);
  await store.runs.countRequest(await store.runs.begin({ job: 'idle', origin: 'schedule' }));
  const tallies = await store.runStats.all(3);
  expect(tallies.get('orders')).toMatchObject({ sent: 1, requests: 1, quiet: 1, shared: 1 });
  expect(tallies.get('idle')).toMatchObject({ sent: 0, requests: 0, quiet: 1, shared: 0 });
  expect(tallies.get('idle')!.lastAt).toBeGreaterThan(tallies.get('orders')!.lastAt);
});
