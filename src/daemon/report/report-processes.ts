import { placeOfProcess } from '../../state/processes/processes.ts';
import type { Store } from '../../state/store.ts';
import { readConfigHashes } from '../config/config-record.ts';
import { readProcesses } from '../process/process-record.ts';

/** One of the processes that share a state on a server. */
export interface ProcessStatus {
  readonly host: string;
  readonly pid: number;
  /** The planner is the daemon that decides when jobs run. All processes run them. */
  readonly role: 'planner' | 'worker';
  readonly version: string;
  readonly commit: string;
  /** When the process started, in epoch milliseconds. */
  readonly since: number;
  /** The runs that the process is executing. */
  readonly runs: number;
  /** The SHA-256 of the process's config file. Absent while the process is starting. */
  readonly config_sha256?: string;
  /** Whether the process loaded another config than the planner. */
  readonly config_differs: boolean;
}

/** Reports the live processes of a state on a server, the planner first. A state in a folder has none. */
export async function reportProcesses(store: Store, planner: string | undefined): Promise<ProcessStatus[]> {
  const records = await readProcesses(store);
  if (records.length === 0) return [];
  const hashes = await readConfigHashes(store);
  const active = hashes.get(planner ?? '');
  const runs = Map.groupBy(await store.runs.underway(), ({ owner }) => owner);
  const all = records.map(({ owner, ...record }): ProcessStatus => {
    const hash = hashes.get(owner);
    return {
      ...placeOfProcess(owner),
      role: owner === planner ? 'planner' : 'worker',
      ...record,
      runs: runs.get(owner)?.length ?? 0,
      config_sha256: hash,
      config_differs: active !== undefined && hash !== undefined && hash !== active,
    };
  });
  return all.sort((a, b) => rankOf(a) - rankOf(b) || a.host.localeCompare(b.host) || a.pid - b.pid);
}

const rankOf = ({ role }: ProcessStatus): number => (role === 'planner' ? 0 : 1);

/** The runs that the planner has queued for the processes of a state on a server. */
export interface QueueStatus {
  readonly waiting: number;
  readonly running: number;
  /** When the oldest waiting run was queued, in epoch milliseconds. Absent if none is waiting. */
  readonly waiting_since?: number;
}

/** Says what a different config means, and how to fix it. Undefined if all processes have the planner's config. */
export function differenceText(processes: readonly ProcessStatus[]): string | undefined {
  if (!processes.some(({ config_differs }) => config_differs)) return undefined;
  return 'A process whose config differs takes no runs. After you have copied the same file to all machines, run "sluice reload --fleet".';
}

/** Reports how many runs are queued. */
export async function reportQueue(store: Store): Promise<QueueStatus> {
  const open = (await store.fleetRuns.all()).filter(({ outcome }) => outcome === null);
  const waiting = open.filter(({ owner }) => owner === null);
  const since = Math.min(...waiting.map(({ queued_at }) => queued_at));
  const oldest = waiting.length === 0 ? {} : { waiting_since: since };
  return { waiting: waiting.length, running: open.length - waiting.length, ...oldest };
}
