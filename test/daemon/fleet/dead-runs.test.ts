import { afterEach, describe, expect, it } from 'vitest';
import { endFormerRuns } from '../../../src/daemon/fleet/dead-runs.ts';
import { recoverInterrupted } from '../../../src/daemon/run/recover-interrupted.ts';
import { scheduleKey } from '../../../src/schedule/schedule.ts';
import { cleanUp, newFolder, newStore, Population } from '../../state/fixtures.ts';
import { destinationOf, jobOf, Source } from '../rig.ts';

afterEach(cleanUp);

const destination = destinationOf('http://127.0.0.1:9');
const orders = jobOf({ name: 'orders', destination, instance: 'i', source: new Source() });

/** Two processes that share a state. None of them knows that the other is dead. */
async function twoProcesses() {
  const [folder, people] = [newFolder(), new Population()];
  const [former, next] = [
    await newStore({ folder, processes: people.member('former') }),
    await newStore({ folder, processes: people.member('next') }),
  ];
  await former.leases.take('daemon');
  return { former, next };
}

describe('a process that begins to plan', () => {
  it("repeats the firing of a run that the earlier planner hadn't queued, and can run the job at once", async () => {
    const { former, next } = await twoProcesses();
    await former.leases.take('job:orders');
    const schedule = scheduleKey(orders.schedule!);
    const firedAt = next.clock.now() - 1_000;
    await former.schedules.set({ job: 'orders', schedule, next_at: next.clock.now() + 86_400_000 });
    const run = await former.runs.begin({ job: 'orders', origin: 'schedule', firedAt });
    const lease = (await next.leases.seize('daemon'))!;
    await endFormerRuns({ store: next, lease });
    await recoverInterrupted(new Map([['orders', orders]]), { store: next, clock: next.clock });
    expect((await next.schedules.find('orders'))?.next_at).toBeLessThan(next.clock.now());
    expect(await next.leases.take('job:orders')).toBeDefined();
    await expect(former.runs.assertOwn(run)).rejects.toMatchObject({ code: 'RUN_LOST' });
  });

  it('leaves runs in the queue and runs of persons to their processes', async () => {
    const { former, next } = await twoProcesses();
    const row = { fired_at: 1, logical_at: null, attempt: null, next_firing: null, urgency: 0, config_sha256: 'c1' };
    await former.fleetRuns.add({ job: 'orders', ...row });
    const [taken] = await former.fleetRuns.take('c1', 1);
    const queued = await former.runs.begin({ job: 'orders', origin: 'schedule', firedAt: 1 });
    await former.fleetRuns.begun(taken!, queued);
    const own = await former.runs.begin({ job: 'stock', origin: 'person' });
    await endFormerRuns({ store: next, lease: (await next.leases.seize('daemon'))! });
    for (const run of [queued, own]) expect(await next.runs.find(run)).toMatchObject({ state: 'running' });
  });

  it('ends no runs if yet another process plans', async () => {
    const { former, next } = await twoProcesses();
    const run = await former.runs.begin({ job: 'orders', origin: 'schedule', firedAt: 1 });
    const lease = (await next.leases.seize('daemon'))!;
    await former.leases.seize('daemon');
    await expect(endFormerRuns({ store: next, lease })).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await next.runs.find(run)).toMatchObject({ state: 'running' });
  });
});
