import { afterEach, describe, expect, it } from 'vitest';
import type { DeadRun } from '../../../src/daemon/fleet/dead-runs.ts';
import { type FleetOrder, FleetQueue } from '../../../src/daemon/fleet/fleet-queue.ts';
import { outcomeText } from '../../../src/daemon/fleet/stored-outcome.ts';
import type { TakenRun } from '../../../src/state/runs/fleet-runs.ts';
import type { Repositories, Store } from '../../../src/state/store.ts';
import { until } from '../../journey/process.ts';
import { cleanUp, newFolder, newStore, Population } from '../../state/fixtures.ts';
import { destinationOf, jobOf, Source } from '../rig.ts';

const closes: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closes.splice(0)) await close();
  await cleanUp();
});

const figures = { rows: 0, bytes: 0, requests: 0, milliseconds: 0 };
const unchanged = (job: string) => outcomeText({ ...figures, state: 'unchanged', job });

function orderOf(name: string, more: Partial<FleetOrder> = {}): FleetOrder {
  const job = jobOf({ name, destination: destinationOf('http://127.0.0.1:9'), instance: 'i', source: new Source() });
  const signal = new AbortController().signal;
  return { firing: { job, at: 1, isCatchUp: false }, begin: async () => {}, nextFiring: null, signal, ...more };
}

/** The stores of a planner and of workers that share a state, and the planner's queue. */
async function openQueue() {
  const [folder, people] = [newFolder(), new Population()];
  const open = (name: string) => newStore({ folder, processes: people.member(name) });
  const store = await open('planner');
  const lease = (await store.leases.take('daemon'))!;
  const seen = {
    config: 'c1',
    queued: 0,
    asked: 0,
    isConnected: true,
    dead: [] as DeadRun[],
    failures: [] as unknown[],
  };
  const start = () => {
    const stop = new AbortController();
    const queue = new FleetQueue({
      ...{ store, lease, clock: store.clock, stop: stop.signal },
      config: () => seen.config,
      queued: () => seen.queued++,
      isConnected: () => {
        seen.asked++;
        return seen.isConnected;
      },
      dead: (run) => seen.dead.push(run),
      failed: (error) => seen.failures.push(error),
    });
    queue.start();
    const close = async () => {
      stop.abort();
      await queue.idle();
    };
    closes.push(close);
    return { queue, close };
  };
  const take = async (from: Store): Promise<TakenRun> => {
    let taken: TakenRun | undefined;
    await until('a run to take', async () => {
      [taken] = await from.fleetRuns.take(seen.config, 1);
      return taken !== undefined;
    });
    return taken!;
  };
  return { store, lease, open, people, seen, start, take, ...start() };
}

describe("the planner's queue", () => {
  it('queues a run in the transaction that records its firing, and forgets it when its outcome was taken', async () => {
    const { store, open, seen, queue, take } = await openQueue();
    const worker = await open('worker');
    const begin = (parts: Repositories) => parts.schedules.set({ job: 'orders', schedule: 'x', next_at: 2 });
    const ended = queue.run(orderOf('orders', { begin }));
    const taken = await take(worker);
    expect(await store.schedules.find('orders')).toMatchObject({ next_at: 2 });
    expect(seen.queued).toBe(1);
    await worker.fleetRuns.end(taken, unchanged('orders'));
    const { outcome, taken: forget } = (await ended)!;
    expect(outcome).toMatchObject({ state: 'unchanged', job: 'orders' });
    expect(await store.fleetRuns.all()).toHaveLength(1);
    await forget();
    expect(await store.fleetRuns.all()).toEqual([]);
  });

  it("queues nothing and records no firing if another process has taken the planner's lease over", async () => {
    const { store, lease, open, queue } = await openQueue();
    await (await open('other')).leases.seize('daemon');
    const begin = async (parts: Repositories) => {
      await parts.schedules.set({ job: 'orders', schedule: 'x', next_at: 2 });
      await parts.leases.assertHeld(lease);
    };
    await expect(queue.run(orderOf('orders', { begin }))).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await store.schedules.find('orders')).toBeUndefined();
    expect(await store.fleetRuns.all()).toEqual([]);
  });

  it('deletes no run that the process that plans now waits for', async () => {
    const { store, open, queue, close, take, seen } = await openQueue();
    const worker = await open('worker');
    const replaced = new AbortController();
    const ended = queue.run(orderOf('ended'));
    await worker.fleetRuns.end(await take(worker), unchanged('ended'));
    const waiting = queue.run(orderOf('waiting', { signal: replaced.signal }));
    await until('both runs to be in the queue', async () => (await store.fleetRuns.all()).length === 2);
    const { taken } = (await ended)!;
    await (await open('other')).leases.seize('daemon');
    await expect(taken()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    replaced.abort();
    await until('the queue to notice it', () => seen.failures.length > 0);
    expect(seen.failures).toMatchObject([{ code: 'LEASE_LOST' }]);
    expect((await store.fleetRuns.all()).map(({ job }) => job)).toEqual(['ended', 'waiting']);
    await close();
    expect(await waiting).toBeUndefined();
  });

  it('reports a job as busy if its last run has not ended', async () => {
    const { store, queue } = await openQueue();
    void queue.run(orderOf('orders'));
    await until('the run to be queued', async () => (await store.fleetRuns.all()).length === 1);
    expect((await queue.run(orderOf('orders')))?.outcome).toMatchObject({ state: 'busy', job: 'orders' });
  });

  it('withdraws an aborted run that waits, and cancels one that a process has taken', async () => {
    const { store, open, queue, take } = await openQueue();
    const worker = await open('worker');
    const [replaced, cancelled] = [new AbortController(), new AbortController()];
    const waiting = queue.run(orderOf('a', { signal: replaced.signal }));
    await until('the run to be queued', async () => (await store.fleetRuns.all()).length === 1);
    replaced.abort();
    expect((await waiting)?.outcome).toMatchObject({ state: 'stopped', job: 'a' });
    expect(await store.fleetRuns.all()).toEqual([]);
    const running = queue.run(orderOf('b', { signal: cancelled.signal }));
    const taken = await take(worker);
    cancelled.abort();
    await until('the worker to learn of it', async () =>
      [...(await worker.fleetRuns.stillOurs()).values()].some(({ isCancelled }) => isCancelled),
    );
    await worker.fleetRuns.end(taken, outcomeText({ ...figures, state: 'stopped', job: 'b' }));
    expect((await running)?.outcome).toMatchObject({ state: 'stopped', job: 'b' });
  });

  it('leaves a canceled run to the next planner when it stops before the run has ended', async () => {
    const { open, queue, close, take } = await openQueue();
    const worker = await open('worker');
    const cancelled = new AbortController();
    const ended = queue.run(orderOf('orders', { signal: cancelled.signal }));
    await take(worker);
    cancelled.abort();
    await until('the worker to learn of it', async () =>
      [...(await worker.fleetRuns.stillOurs()).values()].some(({ isCancelled }) => isCancelled),
    );
    await close();
    expect(await ended).toBeUndefined();
  });

  it('leaves its runs to the next planner when it stops', async () => {
    const { store, open, queue, close, start, take } = await openQueue();
    const worker = await open('worker');
    const stop = new AbortController();
    const given = orderOf('orders', { signal: stop.signal });
    const ended = queue.run(given);
    const taken = await take(worker);
    const closing = close();
    stop.abort();
    expect(await ended).toBeUndefined();
    await closing;
    expect(await store.fleetRuns.all()).toMatchObject([{ cancelled: 0, outcome: null }]);
    const { queue: next } = start();
    const resumed = next.run(orderOf('orders', { firing: { ...given.firing, queuedAs: taken.id } }));
    await worker.fleetRuns.end(taken, unchanged('orders'));
    expect((await resumed)?.outcome).toMatchObject({ state: 'unchanged' });
    expect(await store.fleetRuns.all()).toHaveLength(1);
  });

  it('begins the run of a dead process again once, and ends it after the second death', async () => {
    const { store, open, people, seen, queue, take } = await openQueue();
    const ended = queue.run(orderOf('orders'));
    for (const deaths of [1, 2]) {
      const worker = await open(`worker-${deaths}`);
      const taken = await take(worker);
      const run = await worker.runs.begin({ job: 'orders', origin: 'schedule', firedAt: 1 });
      await worker.fleetRuns.begun(taken, run);
      people.dead.add(`worker-${deaths}`);
      await until('the death to be noticed', () => seen.dead.length === deaths);
      expect(await store.runs.find(run)).toMatchObject({ state: 'interrupted', code: 'RUN_INTERRUPTED' });
      expect(await worker.fleetRuns.end(taken, unchanged('orders')), 'it has lost the run').toBe(false);
    }
    expect(seen.dead.map(({ isAgain }) => isAgain)).toEqual([true, false]);
    expect((await ended)?.outcome).toMatchObject({ state: 'failed', problem: { code: 'RUN_INTERRUPTED' } });
    expect(seen.failures).toEqual([]);
  });

  it("takes a dead process's job away too, because the next process may not know yet that it's dead", async () => {
    const { open, people, seen, queue, take } = await openQueue();
    void queue.run(orderOf('orders'));
    const worker = await open('worker');
    const taken = await take(worker);
    await worker.leases.take('job:orders');
    await worker.fleetRuns.begun(taken, await worker.runs.begin({ job: 'orders', origin: 'schedule', firedAt: 1 }));
    people.dead.add('worker');
    await until('the death to be noticed', () => seen.dead.length === 1);
    people.dead.delete('worker');
    const next = await open('next');
    await take(next);
    expect(await next.leases.take('job:orders')).toBeDefined();
  });

  it('interrupts every run that a dead process has of the job, because another process runs it next', async () => {
    const { open, people, seen, queue, take, store } = await openQueue();
    void queue.run(orderOf('orders'));
    const worker = await open('worker');
    await worker.leases.take('job:orders');
    const sync = await worker.runs.begin({ job: 'orders', origin: 'person', firedAt: 1 });
    await take(worker);
    people.dead.add('worker');
    await until('the death to be noticed', () => seen.dead.length === 1);
    expect((await store.runs.find(sync))?.state).toBe('interrupted');
  });

  it("considers no process dead while this one can't read heartbeats", async () => {
    const { store, open, people, seen, queue, take } = await openQueue();
    seen.isConnected = false;
    void queue.run(orderOf('orders'));
    await take(await open('worker'));
    people.dead.add('worker');
    const { asked } = seen;
    await until('the queue to look twice', () => seen.asked >= asked + 2);
    expect(await store.fleetRuns.taken()).toHaveLength(1);
    seen.isConnected = true;
    await until('the death to be noticed', () => seen.dead.length === 1);
    expect(await store.fleetRuns.taken()).toEqual([]);
  });

  it('assigns waiting runs to a new config, and withdraws those of jobs that it does not contain', async () => {
    const { store, open, seen, queue, take } = await openQueue();
    const [kept, removed] = [queue.run(orderOf('kept')), queue.run(orderOf('removed'))];
    await until('both runs to be queued', async () => (await store.fleetRuns.all()).length === 2);
    seen.config = 'c2';
    await queue.adopt((job) => job === 'kept');
    expect((await removed)?.outcome).toMatchObject({ state: 'stopped', job: 'removed' });
    const worker = await open('worker');
    expect(await worker.fleetRuns.take('c1', 1)).toEqual([]);
    await worker.fleetRuns.end(await take(worker), unchanged('kept'));
    expect((await kept)?.outcome).toMatchObject({ state: 'unchanged', job: 'kept' });
  });
});
