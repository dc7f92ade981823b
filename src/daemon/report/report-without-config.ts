import { dirname } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../state/store.ts';
import { readShownConfig } from '../config/config-record.ts';
import { endlessJobs, type StoredJobStatus, storedJobStatus } from './job-status.ts';
import { readOverview } from './overview.ts';
import { daemonStatus, type Status, writability } from './report-status.ts';

/** What the state alone says, for callers that can't load the config. All times are in epoch milliseconds. */
export interface StatusWithoutConfig extends Pick<Status, 'daemon' | 'processes' | 'queue' | 'unwritable'> {
  /** The daemon's jobs. If no daemon is running, the jobs that have run. */
  readonly jobs: readonly (StoredJobStatus & {
    /** The time of the next firing of the job's schedule. A job that is throttled or waiting may run later. */
    readonly next_firing_at?: number;
  })[];
}

/**
 * Reads the status of all jobs from the state, if there is one. Read-only. `file` is the absolute path of the config
 * that can't be loaded.
 */
export async function reportWithoutConfig(
  file: string,
  store: Store | undefined,
  clock: Clock,
): Promise<StatusWithoutConfig> {
  if (store === undefined) return { jobs: [] };
  const nothing = { folder: dirname(file), destinations: new Map(), sources: new Map(), jobs: new Map() };
  const overview = await readOverview(nothing, store, clock);
  const given = { overview, endless: await endlessJobs(store) };
  const firings = new Map((await store.schedules.all()).map(({ job, next_at }) => [job, next_at]));
  return {
    ...(await daemonStatus({ file }, store, overview.daemon)),
    jobs: (await jobsOf(store, overview.daemon?.owner)).map((job) => ({
      ...storedJobStatus(job, given),
      next_firing_at: firings.get(job),
    })),
    ...(await writability(store)),
  };
}

async function jobsOf(store: Store, daemon: string | undefined): Promise<string[]> {
  const config = daemon === undefined ? undefined : await readShownConfig(store, daemon);
  return config === undefined
    ? (await store.runs.lasts()).map(({ job }) => job)
    : Object.keys(config.values.jobs ?? {});
}
