import { expect, it, onTestFinished, vi } from 'vitest';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { Daemon } from '../../../src/daemon/daemon.ts';
import { type Log, quietLog } from '../../../src/lib/log.ts';
import { scheduleKey } from '../../../src/schedule/schedule.ts';
import { makeFolder, until } from '../../journey/process.ts';
import { configOf, destinationOf, jobOf, Source } from '../rig.ts';

/** A planner that has queued a run of a job that is on hold, and doesn't know the run's outcome yet. */
async function openPlanner() {
  const job = jobOf({
    ...{ name: 'orders', destination: destinationOf('http://127.0.0.1:9'), instance: 'i', source: new Source() },
  });
  const config = configOf(await makeFolder(), [job]);
  const [errors, lines]: [string[], string[]] = [[], []];
  const note = (line: string) => void lines.push(line);
  const log: Log = { ...quietLog, error: (line) => void errors.push(line), warn: note, info: note };
  const composed = await composeRuntime({ config, log });
  let voting: Promise<unknown> | undefined;
  const plannerLock = () => ({
    async tryAcquire() {
      await voting;
      return true;
    },
    close: async () => undefined,
  });
  const store = { ...composed.store, plannerLock };
  const daemon = new Daemon({
    ...{ runtime: { ...composed, store }, config },
    fleet: { configHash: 'c1', outdated: () => undefined },
  });
  onTestFinished(async () => {
    await daemon.stop('the test is over');
    await composed.close();
  });
  const next_at = store.clock.now() - 1_000;
  await store.schedules.set({ job: 'orders', schedule: scheduleKey(job.schedule!), next_at });
  await store.holds.set('orders', { who: 'a', why: 'b' });
  const ended = vi.spyOn(store.fleetRuns, 'ended').mockResolvedValue([]);
  await daemon.start();
  await until('the run to end', async () => (await store.fleetRuns.all()).some(({ outcome }) => outcome !== null));
  /** Keeps the election from noticing who plans. Returns a function that ends this. */
  const pauseElection = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    voting = promise;
    return resolve;
  };
  return { store, daemon, config, errors, lines, ended, pauseElection };
}

it('a process that has lost the lease says so once, and logs no errors for what it can no longer record', async () => {
  const { store, daemon, config, errors, lines, ended, pauseElection } = await openPlanner();
  const goOn = pauseElection();
  await store.leases.seize('daemon');
  const noted = vi.spyOn(store, 'transaction');
  ended.mockRestore();
  await until('the planner to note that the firing is skipped', () => lines.includes('firing.skipped'));
  await Promise.allSettled(noted.mock.results.map(({ value }) => value));
  await daemon.adopt(config, 'c2');
  goOn();
  await until('the process to resign', () => lines.includes('fleet.resigned'));
  expect(errors).toEqual([]);
  expect(lines.filter((line) => line === 'fleet.resigned')).toHaveLength(1);
  expect(await store.fleetRuns.all()).toHaveLength(1);
});
