import { expect, it, onTestFinished, vi } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { ActiveConfig } from '../../../src/daemon/config/active-config.ts';
import { FiringLoop } from '../../../src/daemon/firing/firing-loop.ts';
import { endFormerRuns } from '../../../src/daemon/fleet/dead-runs.ts';
import { FleetQueue } from '../../../src/daemon/fleet/fleet-queue.ts';
import { outcomeText } from '../../../src/daemon/fleet/stored-outcome.ts';
import { recoverInterrupted } from '../../../src/daemon/run/recover-interrupted.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { scheduleKey } from '../../../src/schedule/schedule.ts';
import { ShiftedClock } from '../../clocks.ts';
import { makeFolder, until } from '../../journey/process.ts';
import { configOf, destinationOf, gate, jobOf, Source } from '../rig.ts';

/** A clock on which waits are short, so that the test doesn't have to wait until the state is checked. */
class HastyClock extends ShiftedClock {
  override sleep = (milliseconds: number, signal?: AbortSignal) =>
    new ShiftedClock().sleep(Math.min(milliseconds, 20), signal);
}

/** Doesn't come due, whatever the time of day is and however far a test advances the clock. */
const never = '0 0 29 2 *';

/** The state of a planner with one job. `plan` starts planning. */
async function openPlanner(more: Partial<Job> = {}) {
  const destination = destinationOf('http://127.0.0.1:9');
  const source = new Source();
  const { says, open } = gate();
  source.says = says;
  const job = jobOf({ name: 'orders', destination, instance: 'i', source, cron: never, ...more });
  const config = configOf(await makeFolder(), [job]);
  const machine = new HastyClock();
  const runtime = await composeRuntime({ config, clock: machine });
  const { store, clock, gateway, logins } = runtime;
  const stop = new AbortController();
  const faults: unknown[] = [];
  onTestFinished(() => runtime.close());
  const plan = async () => {
    const lease = (await store.leases.take('daemon'))!;
    const queue = new FleetQueue({
      ...{ store, clock, lease, stop: stop.signal },
      config: () => 'c1',
      queued: () => undefined,
      isConnected: () => true,
      dead: () => undefined,
      failed: (error) => faults.push(error),
    });
    const active = new ActiveConfig({ config, gateway, logins });
    const loop = new FiringLoop({
      ...{ runtime, timer: undefined, stop: stop.signal, fleet: { queue, lease } },
      active: () => active,
      fault: (message, error) => faults.push([message, error]),
    });
    const end = async () => {
      loop.stop();
      stop.abort();
      await loop.idle();
      await active.pause();
    };
    onTestFinished(end);
    await loop.load(config);
    loop.start();
    return { end };
  };
  return { machine, runtime, store, source, job, plan, open, faults };
}

it("a run that couldn't begin without the state is queued again, also if another planner had queued it", async () => {
  const { store, plan, faults } = await openPlanner();
  const row = { logical_at: null, attempt: null, next_firing: null, urgency: 0, config_sha256: 'c1' };
  await store.fleetRuns.add({ job: 'orders', fired_at: 1, ...row });
  const [lost] = await store.fleetRuns.take('c1', 1);
  const problem = new Problem({ code: 'STATE_UNREACHABLE', family: 'try_later', message: 'Cannot reach the state' });
  const nothing = { rows: 0, bytes: 0, requests: 0, milliseconds: 0 };
  await store.fleetRuns.end(lost!, outcomeText({ ...nothing, state: 'failed', job: 'orders', problem }));
  await plan();
  await until('the firing to be queued again', async () =>
    (await store.fleetRuns.all()).some(({ id, outcome }) => id !== lost!.id && outcome === null),
  );
  expect(await store.fleetRuns.all()).toMatchObject([{ job: 'orders', fired_at: 1, owner: null }]);
  expect(faults).toEqual([]);
});

/** A planner whose job is due and isn't queued. */
async function openUnqueued() {
  const planner = await openPlanner();
  const { runtime, store, job } = planner;
  runtime.healed.suspects.add('orders');
  const next_at = store.clock.now() - 1_000;
  await store.schedules.set({ job: 'orders', schedule: scheduleKey(job.schedule!), next_at });
  return { ...planner, next_at };
}

/** A planner with a run outside of the queue that has begun to read its source. */
async function planUnqueued() {
  const planner = await openUnqueued();
  const { end } = await planner.plan();
  await until('the run to read its source', () => planner.source.open === 1);
  return { ...planner, end };
}

it.each([
  ['fires again later if this process stops', false],
  ["isn't fired again by this process if another planner has taken it over", true],
])('a run outside of the queue %s', async (_, isTakenOver) => {
  const { store, end } = await planUnqueued();
  const [run] = await store.runs.underway();
  if (isTakenOver) await store.runs.interruptUnqueued();
  await end();
  expect((await store.runs.find(run!.id))?.state).toBe('interrupted');
  expect((await store.deferredFirings.earliest()).size).toBe(isTakenOver ? 0 : 1);
});

it("a run outside of the queue isn't lost if another process begins to plan just after it was stopped", async () => {
  const { runtime, store, job, end } = await planUnqueued();
  const [run] = await store.runs.underway();
  let dueAt: number | undefined;
  const { settle } = store;
  vi.spyOn(store, 'settle').mockImplementation(async (id, ...rest) => {
    await settle(id, ...rest);
    if (id !== run!.id) return;
    // What the next planner does.
    await endFormerRuns({ store, lease: (await store.leases.seize('daemon'))! });
    await recoverInterrupted(new Map([['orders', job]]), runtime);
    const deferredAt = (await store.deferredFirings.take()).get('orders');
    dueAt = deferredAt ?? (await store.schedules.find('orders'))?.next_at;
  });
  await end();
  expect(dueAt).toBeLessThan(store.clock.now());
});

it('a run outside of the queue waits for its job, which may belong to a dead process', async () => {
  const { store, source, plan, open, faults } = await openUnqueued();
  open('rows');
  const lease = (await store.leases.take('job:orders'))!;
  const tries = vi.spyOn(store.leases, 'take');
  await plan();
  await until('two tries', () => tries.mock.calls.filter(([name]) => name === 'job:orders').length >= 2);
  await lease.release();
  await until('the run to end', async () => (await store.outbox.inState('owed')).length === 1);
  expect(source.asked).toBe(1);
  expect(await store.skips.history({ limit: 1 })).toEqual([]);
  expect(faults).toEqual([]);
});

it('a firing outside of the queue whose job stays busy is skipped', async () => {
  const { store, source, plan, next_at } = await openUnqueued();
  await store.leases.take('job:orders');
  await plan();
  await until('the skip', async () => (await store.skips.history({ limit: 1 })).length === 1);
  expect((await store.schedules.find('orders'))?.next_at).toBeGreaterThan(next_at);
  expect(source.asked).toBe(0);
});

it('a firing outside of the queue fires again later if this process stops while its job is busy', async () => {
  const { store, plan, next_at } = await openUnqueued();
  await store.leases.take('job:orders');
  const tries = vi.spyOn(store.leases, 'take');
  const { end } = await plan();
  await until('a try', () => tries.mock.calls.some(([name]) => name === 'job:orders'));
  await end();
  expect((await store.schedules.find('orders'))?.next_at).toBe(next_at);
  expect(await store.skips.history({ limit: 1 })).toEqual([]);
});

it('a run outside of the queue begins again once if a process interrupted it that does not plan', async () => {
  const { store, source, open, faults } = await planUnqueued();
  const [run] = await store.runs.underway();
  const problem = { code: 'RUN_INTERRUPTED', message: 'x' };
  await store.runs.finish(run!.id, { state: 'interrupted', problem });
  open('rows');
  await until('the second run to end', async () => (await store.outbox.inState('owed')).length === 1);
  expect(source.asked).toBe(2);
  const history = await store.runs.history({ job: 'orders', limit: 3 });
  expect(history).toMatchObject([
    { state: 'owed', fired_at: run!.fired_at },
    { id: run!.id, state: 'interrupted' },
  ]);
  expect(faults).toEqual([]);
});

it('a process that no longer plans leaves the retry of a run to the one that does', async () => {
  const retry = { attempts: 5, firstMs: 60_000, longestMs: 60_000, withinMs: 3_600_000 } as Job['retry'];
  const { machine, store, source, plan, faults } = await openPlanner({ retry });
  const run = await store.runs.begin({ job: 'orders', origin: 'schedule' });
  const now = store.clock.now();
  // Not before this process has lost the lease, however long it takes to get there.
  const waitMs = 600_000;
  const times = { fired_at: now, logical_at: null, since: now, next_at: now + waitMs, until: now + 3_600_000 };
  const row = { job: 'orders', run, ...times, attempt: 1, waits: 1, facts: null };
  await store.retries.plan(run, { code: 'DB_UNREACHABLE', message: 'x' }, row);
  const { end } = await plan();
  await store.leases.seize('daemon');
  const checks = vi.spyOn(store, 'transactionOn');
  machine.advance(waitMs);
  await until('the attempt to be refused', () => checks.mock.calls.length > 0);
  await end();
  expect(await store.retries.all()).toEqual([row]);
  expect(source.asked).toBe(0);
  expect(faults).toEqual([]);
});

it('a process that no longer plans leaves a firing that waits for the state to the one that does', async () => {
  const { store, plan, faults } = await openPlanner();
  const row = { logical_at: null, attempt: null, next_firing: null, urgency: 0, config_sha256: 'c1' };
  await store.fleetRuns.add({ job: 'orders', fired_at: 1, ...row });
  const [taken] = await store.fleetRuns.take('c1', 1);
  const { end } = await plan();
  await store.leases.seize('daemon');
  await store.deferredFirings.add({ job: 'orders', at: 2, logical_at: null });
  const checks = vi.spyOn(store.leases, 'assertHeld');
  const transactions = vi.spyOn(store, 'transaction');
  const problem = new Problem({ code: 'STATE_UNREACHABLE', family: 'try_later', message: 'Cannot reach the state' });
  const nothing = { rows: 0, bytes: 0, requests: 0, milliseconds: 0 };
  await store.fleetRuns.end(taken!, outcomeText({ ...nothing, state: 'failed', job: 'orders', problem }));
  const waiting = async () => [...(await store.deferredFirings.earliest()).values()];
  await until(
    'the outcome to be handled',
    async () => transactions.mock.calls.length + checks.mock.calls.length > 0 || (await waiting())[0] === 1,
  );
  await end();
  expect(await waiting()).toEqual([2]);
  expect((await store.fleetRuns.all()).map(({ id }) => id)).toEqual([taken!.id]);
  expect(faults).toEqual([]);
});

it('a retry outside of the queue whose run failed without the state is repeated as a new run', async () => {
  const retry = { firstMs: 1_000, longestMs: 60_000, withinMs: 3_600_000 };
  const { runtime, store, source, plan, faults } = await openPlanner({ retry });
  runtime.healed.suspects.add('orders');
  const former = await store.runs.begin({ job: 'orders', origin: 'schedule' });
  const at = Math.round(store.clock.now());
  const times = { fired_at: at, logical_at: null, since: at, next_at: at, until: at + 3_600_000 };
  const row = { job: 'orders', run: former, ...times, attempt: 1, waits: 1, facts: null };
  await store.retries.plan(former, { code: 'DB_UNREACHABLE', message: 'x' }, row);
  const problem = new Problem({ code: 'STATE_UNREACHABLE', family: 'try_later', message: 'Cannot reach the state' });
  const find = vi.spyOn(store.runs, 'find');
  source.says = async () => {
    // Both the clean-up after the run and the planner could look the run up.
    find.mockRejectedValueOnce(problem).mockRejectedValueOnce(problem);
    throw problem;
  };
  await plan();
  // The job has read its source without blocking its process, so the repeated run is queued.
  await until('the firing to be repeated', async () => (await store.fleetRuns.all()).length === 1);
  expect(await store.fleetRuns.all()).toMatchObject([{ fired_at: at, attempt: null }]);
  expect(faults).toEqual([]);
});
