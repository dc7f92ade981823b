import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { Heartbeat } from '../../../src/daemon/process/heartbeat.ts';
import { saveProcess } from '../../../src/daemon/process/process-record.ts';
import { reportHealth } from '../../../src/daemon/report/report-health.ts';
import { reportProcesses } from '../../../src/daemon/report/report-processes.ts';
import { SteppingClock } from '../../clocks.ts';
import { cleanUp, newFolder, newStore, Population } from '../../state/fixtures.ts';

afterEach(cleanUp);

const ticking = () => ({ silence: 0, overdue: 0, scheduled: 1 });

/** Processes on several hosts that share a state. */
function newFleet() {
  const [folder, clock, population] = [newFolder(), new SteppingClock(), new Population()];
  const join = async (host: string, pid: number, { plans = false } = {}) => {
    const self = JSON.stringify([host, 'boot', 'space', pid, 'start']);
    const store = await newStore({ folder, clock, processes: population.member(self) });
    await saveProcess({ store, clock });
    if (plans) await store.leases.take('daemon');
    if (plans) await new Heartbeat({ store, clock, ticking }).write();
    return { store, die: () => population.dead.add(self), health: (how = {}) => reportHealth(store, clock, how) };
  };
  return { join };
}

const messages = ({ checks }: Awaited<ReturnType<typeof reportHealth>>) =>
  checks.map(({ name, message }) => `${name}: ${message}`);

describe('the health of processes on several machines', () => {
  it('is that of the daemon if it runs on this machine', async () => {
    const { join } = newFleet();
    await join('elsewhere', 7);
    const { health } = await join(hostname(), 8, { plans: true });
    const { ok, checks } = await health();
    expect({ ok, names: checks.map(({ name }) => name) }).toEqual({
      ok: true,
      names: ['state', 'daemon', 'scheduler'],
    });
  });

  it('is that of the worker on this machine if the daemon runs elsewhere', async () => {
    const { join } = newFleet();
    const daemon = await join('elsewhere', 7, { plans: true });
    const { health, die } = await join(hostname(), 8);
    const healthy = await health();
    expect(healthy.ok).toBe(true);
    expect(messages(healthy)[1]).toMatch(/^worker: process 8 since .*; the daemon is process 7 on elsewhere$/);
    daemon.die();
    expect(await health()).toMatchObject({ ok: true });
    die();
    await join('elsewhere', 9, { plans: true });
    const dead = await health();
    expect(dead.ok).toBe(false);
    expect(messages(dead)[1]).toBe('daemon: no process is running on this host; the daemon is process 9 on elsewhere');
  });

  it('includes all machines with --fleet', async () => {
    const { join } = newFleet();
    const daemon = await join('elsewhere', 7, { plans: true });
    await join('third', 9);
    const { health } = await join(hostname(), 8);
    const all = await health({ isFleet: true });
    expect(all.ok).toBe(true);
    expect(messages(all).slice(1)).toEqual([
      expect.stringMatching(/^daemon: process 7 on elsewhere since/),
      'scheduler: the schedules are running',
      expect.stringMatching(/^worker: process 9 on third since/),
      expect.stringMatching(/^worker: process 8 since/),
    ]);
    daemon.die();
    expect(messages(await health({ isFleet: true }))[1]).toBe('daemon: no daemon is running for this state');
  });
});

it('a process of a fleet is reported with its runs in progress until it dies', async () => {
  const { join } = newFleet();
  const [a, b] = [await join('a', 1), await join('b', 2)];
  await b.store.runs.begin({ job: 'orders', origin: 'schedule' });
  expect(await reportProcesses(a.store, b.store.processes.self)).toMatchObject([
    { host: 'b', pid: 2, role: 'planner', runs: 1 },
    { host: 'a', pid: 1, role: 'worker', runs: 0 },
  ]);
  b.die();
  expect(await reportProcesses(a.store, undefined)).toMatchObject([{ host: 'a', role: 'worker' }]);
});
