import { afterEach, describe, expect, it, vi } from 'vitest';
import { ProcessHeartbeats } from '../../src/state/processes/heartbeats.ts';
import type { NewFleetRun } from '../../src/state/runs/fleet-runs.ts';
import type { Store } from '../../src/state/store.ts';
import { SteppingClock } from '../clocks.ts';
import { isOnServer } from './engines.ts';
import { cleanUp, newFolder, newStore, Population } from './fixtures.ts';

afterEach(cleanUp);

const config = 'c1';

function runOf(job: string, more: Partial<NewFleetRun> = {}): NewFleetRun {
  const times = { fired_at: 1, logical_at: null, next_firing: null, urgency: 0 };
  return { job, ...times, attempt: null, config_sha256: config, ...more };
}

/** Processes that share a state. */
async function openFleet<N extends string>(...names: readonly N[]): Promise<Record<N, Store>> {
  const [folder, clock, people] = [newFolder(), new SteppingClock(), new Population()];
  const stores = {} as Record<N, Store>;
  for (const name of names) stores[name] = await newStore({ clock, folder, processes: people.member(name) });
  return stores;
}

const namesOf = (rows: readonly { readonly job: string }[]) => rows.map(({ job }) => job);

describe('the runs of a fleet', () => {
  it('are taken once each, most urgent first, however many processes ask at the same time', async () => {
    const { a, b, c } = await openFleet('a', 'b', 'c');
    for (let n = 0; n < 12; n++) await a.fleetRuns.add(runOf(`job${n}`, { urgency: n }));
    expect(namesOf(await a.fleetRuns.take(config, 2))).toEqual(['job11', 'job10']);
    const taken = await Promise.all([a, b, c, b, a, c].map((store) => store.fleetRuns.take(config, 3)));
    const jobs = namesOf(taken.flat());
    expect(jobs).toHaveLength(10);
    expect(new Set(jobs).size).toBe(10);
    expect(await b.fleetRuns.take(config, 3)).toEqual([]);
  });

  it('are taken only by processes with the config that they were planned with', async () => {
    const { a } = await openFleet('a');
    await a.fleetRuns.add(runOf('orders', { config_sha256: 'old' }));
    expect(await a.fleetRuns.take(config, 1)).toEqual([]);
    expect(await a.fleetRuns.waitingConfigs()).toEqual(['old']);
    await a.fleetRuns.assign(config);
    expect(namesOf(await a.fleetRuns.take(config, 1))).toEqual(['orders']);
    expect(await a.fleetRuns.waitingConfigs()).toEqual([]);
  });

  it("exist once for each job, and the job's next run replaces one that has ended", async () => {
    const { a } = await openFleet('a');
    expect(await a.fleetRuns.add(runOf('orders'))).toBeDefined();
    expect(await a.fleetRuns.add(runOf('orders', { fired_at: 2 }))).toBeUndefined();
    const [run] = await a.fleetRuns.take(config, 1);
    expect(await a.fleetRuns.add(runOf('orders', { fired_at: 2 }))).toBeUndefined();
    await a.fleetRuns.begun(run!, 'r1');
    expect(await a.fleetRuns.end(run!, '{}')).toBe(true);
    const id = await a.fleetRuns.add(runOf('orders', { fired_at: 2 }));
    const next = { id, fired_at: 2, owner: null, token: null, run: null, outcome: null };
    expect(await a.fleetRuns.all()).toMatchObject([next]);
    const lease = (await a.leases.take('daemon'))!;
    await a.fleetRuns.forget(run!.id, lease);
    expect(await a.fleetRuns.all()).toHaveLength(1);
    await a.fleetRuns.forget(id!, lease);
    expect(await a.fleetRuns.all()).toEqual([]);
  });

  it('are forgotten only by the process that plans', async () => {
    const { a, b } = await openFleet('a', 'b');
    const former = (await a.leases.take('daemon'))!;
    const id = (await a.fleetRuns.add(runOf('orders')))!;
    const lease = (await b.leases.seize('daemon'))!;
    await expect(a.fleetRuns.forget(id, former)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await a.fleetRuns.all()).toHaveLength(1);
    for (let times = 0; times < 2; times++) await b.fleetRuns.forget(id, lease);
    expect(await a.fleetRuns.all()).toEqual([]);
  });

  it.runIf(isOnServer())("aren't taken if they were assigned to another config just before", async () => {
    const { a, b } = await openFleet('a', 'b');
    await a.fleetRuns.add(runOf('orders'));
    const beat = vi.spyOn(ProcessHeartbeats.prototype, 'beat').mockImplementationOnce(() => b.fleetRuns.assign('c2'));
    expect(await a.fleetRuns.take(config, 1)).toEqual([]);
    beat.mockRestore();
    expect(namesOf(await b.fleetRuns.take('c2', 1))).toEqual(['orders']);
  });

  it('no longer belong to a process that lost them', async () => {
    const { a, b } = await openFleet('a', 'b');
    await a.fleetRuns.add(runOf('orders'));
    const [lost] = await a.fleetRuns.take(config, 1);
    expect([...(await a.fleetRuns.stillOurs())]).toEqual([[lost!.token, { isCancelled: false }]]);
    await b.fleetRuns.giveBack(lost!, { deaths: 1, attempt: null });
    const [taken] = await b.fleetRuns.take(config, 1);
    expect(taken).toMatchObject({ job: 'orders', deaths: 1, owner: 'b' });
    expect(await a.fleetRuns.begun(lost!, 'r1')).toBe(false);
    expect(await a.fleetRuns.end(lost!, '{}')).toBe(false);
    expect(await a.fleetRuns.giveBack(lost!, { deaths: 0, attempt: null })).toBe(false);
    expect([...(await a.fleetRuns.stillOurs())]).toEqual([]);
    expect(await b.fleetRuns.end(taken!, '{}')).toBe(true);
  });

  it('are deleted when they are cancelled while they wait; afterwards, their process learns of it', async () => {
    const { a, b } = await openFleet('a', 'b');
    expect(await a.fleetRuns.withdraw((await a.fleetRuns.add(runOf('orders')))!)).toBe(true);
    expect(await a.fleetRuns.all()).toEqual([]);
    const id = (await a.fleetRuns.add(runOf('orders')))!;
    const [taken] = await b.fleetRuns.take(config, 1);
    expect(await a.fleetRuns.withdraw(id)).toBe(false);
    await a.fleetRuns.cancel(id);
    expect([...(await b.fleetRuns.stillOurs())]).toEqual([[taken!.token, { isCancelled: true }]]);
  });
});
