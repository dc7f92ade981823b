import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { jobLock } from '../../state/engine/lock-keys.ts';
import type { Lease } from '../../state/processes/leases.ts';
import type { FleetRuns, TakenRun } from '../../state/runs/fleet-runs.ts';
import type { Repositories, Store } from '../../state/store.ts';
import type { FleetRunRow, RunRow } from '../../state/tables.ts';
import { outcomeOfRow, outcomeText } from './stored-outcome.ts';

/** How often a run may kill its process. After that, it isn't begun again. */
const maxDeaths = 2;

/** A run that a dead process had taken, and whether it's begun again. */
export interface DeadRun {
  readonly job: string;
  readonly owner: string;
  readonly isAgain: boolean;
}

interface DeadRunsOptions {
  readonly store: Store;
  readonly clock: Clock;
}

/**
 * Takes the runs of dead processes away from them. A run that had begun is interrupted in the same transaction, so that
 * a process that was only suspended can't settle it (`RUN_LOST`), and another process begins it again. A run whose
 * processes keep dying ends, because it may be the cause.
 */
export async function takeDeadRuns({ store }: DeadRunsOptions): Promise<DeadRun[]> {
  const owners = (await store.fleetRuns.taken()).map(({ owner }) => owner);
  const suspected = await store.heartbeats.dead(owners);
  if (suspected.size === 0) return [];
  return store.transaction(async (parts) => {
    const found: DeadRun[] = [];
    const dead = await parts.heartbeats.dead([...suspected]);
    for (const taken of await parts.fleetRuns.taken()) {
      if (!dead.has(taken.owner)) continue;
      await takeJob(parts, taken);
      found.push({ job: taken.job, owner: taken.owner, isAgain: await settle(parts, taken) });
    }
    return found;
  });
}

/**
 * Takes a job away from a dead process, which may also be running it for another reason, such as a `sync`. Otherwise,
 * the job would be busy for the next process until that one knows of the death too.
 */
async function takeJob({ leases, runs }: Repositories, { job, owner }: TakenRun): Promise<void> {
  await runs.interruptOf(owner, job);
  await leases.revoke(jobLock(job), owner);
}

/**
 * Ends the runs that an earlier planner ran by itself, so that their firings fire again, and takes their jobs away from
 * it. Call this when a process begins to plan: the earlier planner may be dead, but other processes can't know yet.
 */
export async function endFormerRuns({ store, lease }: { readonly store: Store; readonly lease: Lease }): Promise<void> {
  await store.transaction(async ({ leases, runs }) => {
    await leases.assertHeld(lease);
    for (const { job, owner } of await runs.interruptUnqueued()) await leases.revoke(jobLock(job), owner);
  });
}

/** Returns true if the run is begun again. */
async function settle(parts: Repositories, taken: TakenRun): Promise<boolean> {
  const { fleetRuns, runs, retries } = parts;
  const run = taken.run === null ? undefined : await runs.find(taken.run);
  const { deaths, attempt } = taken;
  if (run === undefined) return fleetRuns.giveBack(taken, { deaths, attempt });
  if (run.state !== 'running' && run.state !== 'interrupted') {
    await fleetRuns.end(taken, outcomeText(outcomeOfRow(run, await retries.find(taken.job))));
    return false;
  }
  if (await beginAgain(fleetRuns, taken)) return true;
  await fleetRuns.end(taken, outcomeText(interrupted(taken, run)));
  return false;
}

/**
 * Makes an interrupted run wait for another process. Returns false if it's over, because it was canceled or its
 * processes keep dying.
 */
export async function beginAgain(fleetRuns: FleetRuns, taken: TakenRun): Promise<boolean> {
  const deaths = taken.deaths + 1;
  return deaths < maxDeaths && taken.cancelled === 0 && fleetRuns.giveBack(taken, { deaths, attempt: null });
}

const died = { code: 'RUN_INTERRUPTED', message: 'The process ended during the run' };

function interrupted({ job }: FleetRunRow, { id: run, requests }: RunRow) {
  const problem = new Problem({ ...died, family: 'job', where: { job } });
  return { state: 'failed' as const, job, run, rows: 0, bytes: 0, requests, milliseconds: 0, problem };
}
