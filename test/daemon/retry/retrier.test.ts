import { afterEach, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import type { Firing } from '../../../src/daemon/firing/firing.ts';
import { PendingAttempts } from '../../../src/daemon/retry/pending-attempts.ts';
import { Retrier, type RetrierOptions } from '../../../src/daemon/retry/retrier.ts';
import type { RetryRow } from '../../../src/state/tables.ts';
import { noon, SteppingClock } from '../../clocks.ts';
import { cleanUp, newStore } from '../../state/fixtures.ts';
import { minute } from './world.ts';

afterEach(cleanUp);

it("a run's retries can end after its job's next run is waiting for a retry, without ending that one", async () => {
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
  const [former, newest] = [await retrying(), await retrying()];
  const scheduler = { attempts: new PendingAttempts(), goOn: () => undefined, assertPlanner: () => undefined };
  const retrier = new Retrier({ store, clock, scheduler, emit: () => undefined } as unknown as RetrierOptions);
  retrier.giveUp({ job: { name: 'orders' } as Job, attempt: former } as Firing);
  await retrier.idle();
  expect(await store.retries.all()).toEqual([newest]);
  expect(await store.runs.find(newest.run)).toMatchObject({ state: 'retrying' });
});
