import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { ActiveConfig } from '../../../src/daemon/config/active-config.ts';
import { FleetWorker } from '../../../src/daemon/fleet/fleet-worker.ts';
import { outcomeOf } from '../../../src/daemon/fleet/stored-outcome.ts';
import type { BusyWait, NewFleetRun } from '../../../src/state/runs/fleet-runs.ts';
import { ShiftedClock } from '../../clocks.ts';
import { makeFolder, until } from '../../journey/process.ts';
import { configOf, destinationOf, gate, jobOf, Source } from '../rig.ts';

const hash = 'c1';
/** The hash of a config whose runs the worker doesn't take. */
const elsewhere = 'c2';

/** A worker whose jobs read a source that answers when the test lets it. Nothing is sent. */
async function openWorker({ jobs = 1, concurrency = 4 } = {}) {
  const source = new Source();
  const { says, open } = gate();
  source.says = says;
  const destination = destinationOf('http://127.0.0.1:9');
  const all = Array.from({ length: jobs }, (_, n) =>
    jobOf({ name: `job${n}`, destination, instance: `i${n}`, source }),
  );
  const config = configOf(await makeFolder(), all);
  const clock = new ShiftedClock();
  const runtime = await composeRuntime({ config, clock });
  const { store, gateway, logins, events } = runtime;
  const active = new ActiveConfig({ config, gateway, logins });
  const stop = new AbortController();
  const faults: unknown[] = [];
  const differing: string[] = [];
  events.listen((...[name, facts]) => void (name === 'fleet.config_differs' && differing.push(facts.planned_with)));
  const worker = new FleetWorker({
    ...{ runtime, active: () => active, config: () => hash, concurrency: () => concurrency, stop: stop.signal },
    ended: () => undefined,
    fault: (message, error) => faults.push([message, error]),
  });
  const end = async () => {
    stop.abort(new Error('the test is over'));
    await worker.idle();
  };
  onTestFinished(async () => {
    await end();
    await active.pause();
    await runtime.close();
  });
  const plan = (job: string, more: Partial<NewFleetRun> = {}) =>
    store.fleetRuns.add({
      ...{ job, fired_at: 1, logical_at: null, attempt: null, next_firing: null, urgency: 0, config_sha256: hash },
      ...more,
    });
  const ended = async () => {
    const rows = (await store.fleetRuns.all()).filter(({ outcome }) => outcome !== null);
    return rows.map(({ outcome }) => outcomeOf(outcome!));
  };
  const tryAgain = async () => {
    const tries = vi.spyOn(store.leases, 'take');
    clock.advance(1_500);
    worker.nudge();
    await until('a try', () => tries.mock.calls.some(([name]) => name === 'job:job0'));
    tries.mockClear();
  };
  const giveBackElsewhere = async (given: { readonly deaths: number } & Partial<BusyWait>) => {
    const [taken] = await store.fleetRuns.take(elsewhere, 1);
    await store.fleetRuns.giveBack(taken!, { attempt: null, ...given });
    await store.fleetRuns.assign(hash);
  };
  worker.start();
  return { worker, source, store, clock, open, plan, ended, end, tryAgain, giveBackElsewhere, faults, differing };
}

describe("a fleet's worker", () => {
  it('takes as many runs as it has slots, and the next one as soon as one ends', async () => {
    const { source, open, plan, ended, store, faults } = await openWorker({ jobs: 3, concurrency: 2 });
    for (const job of ['job0', 'job1', 'job2']) await plan(job);
    await until('two runs', () => source.open === 2);
    expect(await store.fleetRuns.taken()).toHaveLength(2);
    open('rows');
    await until('all runs to end', async () => (await ended()).length === 3);
    expect(source.most).toBe(2);
    expect((await ended()).map(({ state }) => state)).toEqual(['owed', 'owed', 'owed']);
    expect(await store.outbox.inState('owed')).toHaveLength(3);
    expect(faults).toEqual([]);
  });

  it('stops a run that the planner has cancelled, and records that it was stopped', async () => {
    const { source, plan, ended, store } = await openWorker();
    const id = await plan('job0');
    await until('the run to begin', () => source.open === 1);
    await store.fleetRuns.cancel(id!);
    await until('the run to end', async () => (await ended()).length === 1);
    expect(await ended()).toMatchObject([{ state: 'stopped', job: 'job0' }]);
    expect(source.open).toBe(0);
    expect(await store.outbox.inState('owed')).toEqual([]);
  });

  it('stops a run that it has lost, and records nothing about it', async () => {
    const { source, open, plan, ended, store } = await openWorker();
    await plan('job0');
    await until('the run to begin', () => source.open === 1);
    const [lost] = await store.fleetRuns.taken();
    await store.fleetRuns.giveBack(lost!, { deaths: 1, attempt: null });
    await until('the run to begin again', () => source.asked === 2);
    open('rows');
    await until('the run to end', async () => (await ended()).length === 1);
    expect(await store.fleetRuns.all()).toMatchObject([{ deaths: 1 }]);
    const [outcome] = await ended();
    expect(outcome).toMatchObject({ state: 'owed', run: expect.not.stringContaining(lost!.run!) });
    expect(await store.outbox.inState('owed')).toMatchObject([{ run: outcome!.run }]);
  });

  it('waits for a job that another process still holds, and runs it when it is free', async () => {
    const { worker, source, open, plan, ended, store, clock } = await openWorker();
    open('rows');
    const lease = (await store.leases.take('job:job0'))!;
    const id = await plan('job0');
    const tries = vi.spyOn(store.leases, 'take');
    await until('two tries', () => {
      clock.advance(500);
      worker.nudge();
      return tries.mock.calls.filter(([name]) => name === 'job:job0').length >= 2;
    });
    await lease.release();
    await until('the run to end', async () => {
      clock.advance(500);
      worker.nudge();
      return (await ended()).length === 1;
    });
    expect(await ended()).toMatchObject([{ state: 'owed', job: 'job0' }]);
    expect(await store.fleetRuns.all()).toMatchObject([{ id, deaths: 0 }]);
    expect(source.asked).toBe(1);
  });

  it('ends a run whose job stays busy', async () => {
    const { worker, source, plan, ended, store, clock } = await openWorker();
    await store.leases.take('job:job0');
    await plan('job0');
    await until('the run to end', async () => {
      clock.advance(1_000);
      worker.nudge();
      return (await ended()).length === 1;
    });
    expect(await ended()).toMatchObject([{ state: 'busy', job: 'job0' }]);
    expect(source.asked).toBe(0);
  });

  it('ends a run that has been waiting for its busy job for long enough in other processes', async () => {
    const { worker, plan, ended, store, clock, giveBackElsewhere } = await openWorker();
    await until('the worker to be connected', () => worker.connectedMs() > 0);
    clock.advance(25_000);
    await store.leases.take('job:job0');
    const tries = vi.spyOn(store.leases, 'take');
    await plan('job0', { config_sha256: elsewhere });
    await giveBackElsewhere({ deaths: 0, busy_ms: 19_000, busy_at: clock.now() - 1_500 });
    await until('the run to end', async () => (await ended()).length === 1);
    expect(await ended()).toMatchObject([{ state: 'busy', job: 'job0' }]);
    expect(tries.mock.calls.filter(([name]) => name === 'job:job0')).toHaveLength(1);
  });

  it("waits longer for a busy job if its process has just started and can't know who is dead", async () => {
    const { plan, ended, store, clock, open, tryAgain, giveBackElsewhere } = await openWorker();
    open('rows');
    const lease = (await store.leases.take('job:job0'))!;
    await plan('job0', { config_sha256: elsewhere });
    await giveBackElsewhere({ deaths: 0, busy_ms: 25_000, busy_at: clock.now() });
    for (let times = 0; times < 2; times++) await tryAgain();
    await lease.release();
    await tryAgain();
    await until('the run to end', async () => (await ended()).length === 1);
    expect(await ended()).toMatchObject([{ state: 'owed', job: 'job0' }]);
  });

  it('waits for a busy job for as long as before if another process has begun the run since then', async () => {
    const { plan, ended, store, clock, open, tryAgain, giveBackElsewhere } = await openWorker();
    open('rows');
    const lease = (await store.leases.take('job:job0'))!;
    await plan('job0');
    await tryAgain();
    await until('the run to be put back', async () => {
      await store.fleetRuns.assign(elsewhere);
      return (await store.fleetRuns.taken()).length === 0;
    });
    await giveBackElsewhere({ deaths: 1 });
    clock.advance(16_000);
    for (let times = 0; times < 3; times++) await tryAgain();
    await lease.release();
    await tryAgain();
    await until('the run to end', async () => (await ended()).length === 1);
    expect(await ended()).toMatchObject([{ state: 'owed', job: 'job0' }]);
  });

  it('begins a run again once if a process interrupted it without the knowledge of the planner', async () => {
    const { source, open, plan, ended, store } = await openWorker();
    await plan('job0');
    const interrupt = async (times: number) => {
      await until('the run to read its source', () => source.asked === times && source.open === 1);
      const [taken] = await store.fleetRuns.taken();
      await store.runs.finish(taken!.run!, {
        state: 'interrupted',
        problem: { code: 'RUN_INTERRUPTED', message: 'x' },
      });
    };
    await interrupt(1);
    open('rows');
    await until('the run to end', async () => (await ended()).length === 1);
    expect(await ended()).toMatchObject([{ state: 'owed', job: 'job0' }]);
    expect(await store.fleetRuns.all()).toMatchObject([{ deaths: 1 }]);
    expect(source.asked).toBe(2);
  });

  it('gives its runs back when its process stops', async () => {
    const { source, plan, end, store } = await openWorker();
    await plan('job0');
    await until('the run to begin', () => source.open === 1);
    await end();
    expect(await store.fleetRuns.all()).toMatchObject([{ owner: null, token: null, deaths: 0, outcome: null }]);
    expect(source.open).toBe(0);
  });

  it("doesn't run a job that its config doesn't contain, so that another process can", async () => {
    const { source, plan, store, open, ended } = await openWorker();
    await plan('elsewhere', { urgency: 10 });
    await plan('job0');
    await until('the run to begin', () => source.open === 1);
    open('rows');
    await until('the run to end', async () => (await ended()).length === 1);
    expect((await store.fleetRuns.all()).map(({ job, owner }) => [job, owner !== null])).toEqual([
      ['elsewhere', false],
      ['job0', true],
    ]);
  });

  it('reports once that runs wait that were planned with another config, and takes none of them', async () => {
    const { worker, source, plan, clock, differing } = await openWorker();
    await plan('job0', { config_sha256: 'c2' });
    await until('the worker to look', () => worker.connectedMs() > 0);
    for (let times = 0; times < 3; times++) {
      clock.advance(11_000);
      worker.nudge();
      await until('the worker to report it', () => differing.length > 0 || times === 0);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(differing).toEqual(['c2']);
    expect(source.asked).toBe(0);
  });
});
