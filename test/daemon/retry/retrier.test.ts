import { afterEach, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import type { Firing } from '../../../src/daemon/firing/firing.ts';
import { Scheduler } from '../../../src/daemon/firing/scheduler.ts';
import { PendingAttempts } from '../../../src/daemon/retry/pending-attempts.ts';
import { Retrier, type RetrierOptions } from '../../../src/daemon/retry/retrier.ts';
import type { RunOutcome } from '../../../src/daemon/run/run-outcome.ts';
import type { RetryRow } from '../../../src/state/tables.ts';
import { noon, SteppingClock } from '../../clocks.ts';
import { cleanUp, newStore } from '../../state/fixtures.ts';
import { minute } from './world.ts';

afterEach(cleanUp);

/** A state, and a function that plans the retry of a new run. */
async function openRetries() {
  const clock = new SteppingClock(noon, { manual: true });
  const store = await newStore({ clock });
  const retrying = async (): Promise<RetryRow> => {
    const run = await store.runs.begin({ job: 'orders', origin: 'schedule' });
    const at = clock.now();
    const times = { fired_at: at, logical_at: null, since: at, next_at: at + minute, until: at + 9 * minute };
    const row = { job: 'orders', run, ...times, attempt: 1, waits: 1, facts: null };
    await store.retries.plan(run, { code: 'DB_UNREACHABLE', message: 'connection refused' }, row);
    return row;
  };
  return { clock, store, retrying };
}

it("a run's retries can end after its job's next run is waiting for a retry, without ending that one", async () => {
  const { clock, store, retrying } = await openRetries();
  const [former, newest] = [await retrying(), await retrying()];
  const scheduler = { attempts: new PendingAttempts(), goOn: () => undefined, assertPlanner: () => undefined };
  const retrier = new Retrier({ store, clock, scheduler, emit: () => undefined } as unknown as RetrierOptions);
  retrier.giveUp({ job: { name: 'orders' } as Job, attempt: former } as Firing);
  await retrier.idle();
  expect(await store.retries.all()).toEqual([newest]);
  expect(await store.runs.find(newest.run)).toMatchObject({ state: 'retrying' });
});

it('retries are changed only by the process that plans', async () => {
  const { clock, store, retrying } = await openRetries();
  const row = await retrying();
  const lease = (await store.leases.take('daemon'))!;
  const scheduler = new Scheduler({ store, clock, lease, failed: () => undefined });
  const retrier = new Retrier({ store, clock, scheduler, emit: () => undefined } as unknown as RetrierOptions);
  const job = { name: 'orders', retry: { firstMs: minute } } as Job;
  const outcome: RunOutcome = { state: 'busy', job: 'orders', rows: 0, bytes: 0, requests: 0, milliseconds: 0 };
  const end = () => retrier.ended({ job, at: row.fired_at, attempt: row, isCatchUp: false }, job, outcome);
  clock.advance(minute / 2);
  await end();
  const [moved] = await store.retries.all();
  expect(moved).toEqual({ ...row, next_at: row.next_at + minute / 2 });
  await store.leases.seize('daemon');
  clock.advance(minute);
  await expect(end()).rejects.toMatchObject({ code: 'LEASE_LOST' });
  expect(await store.retries.all()).toEqual([moved]);
});
