import { placeOfProcess } from '../../state/processes/processes.ts';
import type { Store } from '../../state/store.ts';
import { readConfigHashes } from '../config/config-record.ts';
import { readProcesses } from '../process/process-record.ts';

/** One of the processes that share a state on a server. */
export interface ProcessStatus {
  readonly host: string;
  readonly pid: number;
  readonly role: 'planner' | 'worker';
  readonly version: string;
  readonly commit: string;
  /** When the process started, in epoch milliseconds. */
  readonly since: number;
  /** The runs that the process is executing. */
  readonly runs: number;
  /** The SHA-256 of the process's config file. Absent while the process is starting. */
  readonly config_sha256?: string;
  /** Whether the process loaded another config than the daemon. */
  readonly config_differs: boolean;
}

/** Reports the live processes of a state on a server, the planner first. A state in a folder has none. */
export async function reportProcesses(store: Store, daemon: string | undefined): Promise<ProcessStatus[]> {
  const records = await readProcesses(store);
  if (records.length === 0) return [];
  const hashes = await readConfigHashes(store);
  const active = hashes.get(daemon ?? '');
  const runs = Map.groupBy(await store.runs.underway(), ({ owner }) => owner);
  const all = records.map(({ owner, ...record }): ProcessStatus => {
    const hash = hashes.get(owner);
    return {
      ...placeOfProcess(owner),
      role: owner === daemon ? 'planner' : 'worker',
      ...record,
      runs: runs.get(owner)?.length ?? 0,
      config_sha256: hash,
      config_differs: active !== undefined && hash !== undefined && hash !== active,
    };
  });
  return all.sort((a, b) => rankOf(a) - rankOf(b) || a.host.localeCompare(b.host) || a.pid - b.pid);
}

const rankOf = ({ role }: ProcessStatus): number => (role === 'planner' ? 0 : 1);
