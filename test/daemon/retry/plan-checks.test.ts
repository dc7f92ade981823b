import { afterEach, expect, it } from 'vitest';
import { Scheduler } from '../../../src/daemon/firing/scheduler.ts';
import { WaitingFirings } from '../../../src/daemon/firing/waiting-firings.ts';
import { Retrier } from '../../../src/daemon/retry/retrier.ts';
import type { RunOutcome } from '../../../src/daemon/run/run-outcome.ts';
import type { Timer } from '../../../src/schedule/timer.ts';
import { SteppingClock } from '../../clocks.ts';
import { cleanUp, newFolder, newStore } from '../../state/fixtures.ts';
import { destinationOf, jobOf, Source } from '../rig.ts';

afterEach(cleanUp);

const destination = destinationOf('http://127.0.0.1:1/api/1.0');
const job = jobOf({ name: 'orders', cron: '0 * * * *', destination, instance: 'orders', source: new Source() });
const other = { ...job, name: 'invoices' };

/** A retrier, and how often it made the scheduler check its plans. */
async function open() {
  const clock = new SteppingClock();
  const store = await newStore({ clock, folder: newFolder() });
  let checks = 0;
  const timer: Timer = { start() {}, look: () => void checks++, silence: () => 0, stop() {} };
  const failed = (...problem: unknown[]): never => {
    throw problem.at(-1);
  };
  const scheduler = new Scheduler({ store, clock, failed, timer });
  const stop = new AbortController().signal;
  const waiting = new WaitingFirings({ clock, stop, failed });
  const actions = { emit: () => undefined, nextFiring: () => null, fire: () => undefined, failed };
  const retrier = new Retrier({ store, clock, scheduler, waiting, stop, ...actions });
  const end = (outcome: Partial<RunOutcome>) =>
    retrier.ended({ job, at: clock.now(), isCatchUp: false }, job, {
      ...{ state: 'unchanged', job: job.name, run: 'a', rows: 1, bytes: 1, requests: 0, milliseconds: 1 },
      ...outcome,
    });
  return { scheduler, end, checks: () => checks };
}

const retry = { run: 'b', job: other.name, attempt: 2, waits: 1, next_at: 1, until: 2 } as RunOutcome['retry'];

it("the end of a run doesn't check plans while no retry is waiting", async () => {
  const { end, checks } = await open();
  await end({ state: 'unchanged' });
  await end({ state: 'delivered' });
  expect(checks()).toBe(0);
});

it('the end of a run checks the plans if its own retry or another one is waiting', async () => {
  const own = await open();
  await own.end({ state: 'retrying', retry });
  expect(own.checks()).toBe(1);
  const others = await open();
  others.scheduler.attempts.add({ job: other, row: retry! });
  await others.end({ state: 'unchanged' });
  expect(others.checks()).toBe(1);
});
