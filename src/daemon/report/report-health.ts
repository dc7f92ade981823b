import type { Clock } from '../../lib/clock.ts';
import type { Problem } from '../../lib/problem.ts';
import { ourselves } from '../../lib/process-identity.ts';
import { instantText } from '../../lib/time-text.ts';
import { processText } from '../../state/processes/processes.ts';
import type { Store } from '../../state/store.ts';
import { readHeartbeat } from '../process/heartbeat.ts';
import { type ProcessStatus, reportProcesses } from './report-processes.ts';

/** The health of the daemon that uses a state, or of its workers on this machine, as other processes see it. */
export interface Health {
  readonly ok: boolean;
  readonly checks: readonly HealthCheck[];
}

interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

/**
 * Reads from the store whether there is a daemon, whether it's alive, and whether its schedules are running. If several
 * machines share the state and the daemon is on another one, a worker on this machine counts instead. Read-only.
 *
 * @param isFleet whether to check the processes on all machines, not only those on this machine
 */
export async function reportHealth(store: Store, clock: Clock, { isFleet = false } = {}): Promise<Health> {
  const holder = await store.leases.holder('daemon');
  const processes = await reportProcesses(store, holder?.owner);
  const here = processes.filter(({ host }) => host === ourselves.host);
  const isElsewhere = processes.length > 0 && here.every(({ role }) => role === 'worker');
  const checks = [stateCheck(await store.probe())];
  if (isElsewhere && !isFleet) checks.push(...workerChecks(here, holder?.owner));
  else checks.push(...(await daemonChecks(store, { clock, holder })));
  if (isFleet) checks.push(...processes.filter(({ role }) => role === 'worker').map(processCheck));
  return { ok: checks.every(({ ok }) => ok), checks };
}

async function daemonChecks(
  store: Store,
  { clock, holder }: { clock: Clock; holder: { readonly owner: string; readonly takenAt: number } | undefined },
): Promise<HealthCheck[]> {
  if (holder === undefined) return [{ name: 'daemon', ok: false, message: 'no daemon is running for this state' }];
  const beat = await readHeartbeat(store, { owner: holder.owner, clock });
  const since = instantText(holder.takenAt);
  return [
    { name: 'daemon', ok: true, message: `${processText(holder.owner)} since ${since}` },
    { name: 'scheduler', ok: beat.ticking, message: beat.message },
  ];
}

function workerChecks(here: readonly ProcessStatus[], daemon: string | undefined): HealthCheck[] {
  const elsewhere = daemon === undefined ? 'no daemon is running yet' : `the daemon is ${processText(daemon)}`;
  if (here.length === 0)
    return [{ name: 'daemon', ok: false, message: `no process is running on this host; ${elsewhere}` }];
  return here.map((one) => ({ ...processCheck(one), message: `${processCheck(one).message}; ${elsewhere}` }));
}

function processCheck({ role, host, pid, since, version, config_differs }: ProcessStatus): HealthCheck {
  const where = host === ourselves.host ? '' : ` on ${host}`;
  const other = config_differs ? ", with another config than the planner's" : '';
  return { name: role, ok: true, message: `process ${pid}${where} since ${instantText(since)}, ${version}${other}` };
}

function stateCheck(problem: Problem | undefined): HealthCheck {
  if (problem === undefined) return { name: 'state', ok: true, message: 'the state can be read and written' };
  return { name: 'state', ok: false, message: `the state is not writable: ${problem.code}, ${problem.message}` };
}
