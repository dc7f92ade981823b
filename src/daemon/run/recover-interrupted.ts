import type { Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { firingBefore } from '../../schedule/misfire.ts';
import { scheduleKey } from '../../schedule/schedule.ts';
import type { Store } from '../../state/store.ts';
import type { RunRow } from '../../state/tables.ts';

/**
 * Makes firings due again if their runs ended when the process died and the job hasn't run since. Otherwise, a power
 * failure at night would cost a daily job that day's run. Each firing is repeated only once, so a job that kills its
 * process doesn't cause a crash loop.
 */
export async function recoverInterrupted(
  jobs: ReadonlyMap<string, Job>,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): Promise<void> {
  const queued = new Set((await store.fleetRuns.all()).map(({ job }) => job));
  for (const run of (await store.runs.lasts()).filter(isCutOff)) {
    // The fleet's queue has the firing.
    if (queued.has(run.job)) continue;
    const schedule = jobs.get(run.job)?.schedule;
    const row = await store.schedules.find(run.job);
    if (schedule === undefined || row?.schedule !== scheduleKey(schedule) || row.next_at === null) continue;
    const [, before] = await store.runs.history({ job: run.job, limit: 2 });
    if (before !== undefined && isCutOff(before)) continue;
    // The scheduler may have skipped later firings, so the interrupted run may belong to an earlier firing than the
    // job's last one.
    const nextAt = run.fired_at === null ? row.next_at : run.fired_at + 1;
    const at = firingBefore(schedule, { nextAt, now: clock.now() });
    if (at !== undefined) await store.schedules.set({ ...row, next_at: at });
  }
}

const cutOff = ['RUN_INTERRUPTED', 'RUN_BLOCKED', 'DISK_STALLED'];

const isCutOff = ({ origin, code }: RunRow): boolean => origin === 'schedule' && cutOff.includes(code ?? '');
