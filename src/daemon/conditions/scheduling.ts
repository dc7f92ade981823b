import { countText } from '../../lib/count-text.ts';
import type { Liveness } from '../process/heartbeat.ts';
import type { Condition, Snapshot } from './condition.ts';

/**
 * Finds schedules that don't run, because the daemon's schedules have stopped, or because no daemon is running although
 * a firing is due or a payload is owed.
 */
export function findStopped({ overview, jobs }: Snapshot, liveness: Liveness | undefined): Condition[] {
  const { now, daemon } = overview;
  const overdue = jobs.filter((job) => {
    const at = overview.nextFiring(job);
    return at !== undefined && at <= now && (overview.lastRun(job.name)?.started_at ?? 0) < at;
  });
  const stopped = liveness === undefined ? daemon?.stopped : liveness.ticking ? undefined : liveness.message;
  if (stopped !== undefined) {
    return [
      {
        subject: 'scheduler',
        kind: 'scheduler',
        level: 'error',
        since: now,
        what: stopped,
        jobs: overdue.map(({ name }) => name),
        fix: 'run "sluice health", then restart the daemon',
      },
    ];
  }
  return daemon === undefined && liveness === undefined ? withoutDaemon({ overview, overdue, jobs }) : [];
}

/** Considers only missed firings and owed payloads, because a timer or a user may start the runs without a daemon. */
function withoutDaemon({
  overview,
  overdue,
  jobs,
}: Pick<Snapshot, 'overview' | 'jobs'> & { readonly overdue: Snapshot['jobs'] }): Condition[] {
  const owing = jobs.filter(({ name }) => overview.waitingOf(name).some(({ state }) => state === 'owed'));
  const names = [...new Set([...overdue, ...owing].map(({ name }) => name))];
  if (names.length === 0) return [];
  const since = Math.min(
    ...overdue.map((job) => overview.nextFiring(job) ?? overview.now),
    ...owing.flatMap(({ name }) => overview.waitingOf(name).map(({ owed_at }) => owed_at)),
  );
  const parts = [
    ...(overdue.length === 0
      ? []
      : [`${countText(overdue.length)} ${overdue.length === 1 ? 'job is' : 'jobs are'} overdue`]),
    ...(owing.length === 0
      ? []
      : [
          `${owing.length === 1 ? '1 job has payloads' : `${countText(owing.length)} jobs have payloads`} that are not being sent`,
        ]),
  ];
  const what = `no daemon is running for this state: ${parts.join(', ')}`;
  return [{ subject: 'daemon', kind: 'daemon', level: 'error', since, what, jobs: names, fix: 'sluice run' }];
}
