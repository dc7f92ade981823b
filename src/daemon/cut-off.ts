import type { Job } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { firingBefore } from '../schedule/misfire.ts';
import { scheduleKey } from '../schedule/schedule.ts';
import type { Store } from '../state/store.ts';
import type { RunRow } from '../state/tables.ts';

/**
 * The firings whose runs died with their process, nothing having run since, are due again: without this, a power cut at night
 * would cost a daily job its day. Once each: a job that kills the process that runs it must not be the first thing
 * that every start does.
 */
export async function giveBackCutOff(
  jobs: ReadonlyMap<string, Job>,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): Promise<void> {
  for (const run of (await store.runs.lasts()).filter(isCutOff)) {
    const schedule = jobs.get(run.job)?.schedule;
    const row = await store.schedules.find(run.job);
    if (schedule === undefined || row?.schedule !== scheduleKey(schedule) || row.next_at === null) continue;
    const [, before] = await store.runs.history({ job: run.job, limit: 2 });
    if (before !== undefined && isCutOff(before)) continue;
    // Others may have come to nothing since: the run is not always that of the last one before the next.
    const nextAt = run.fired_at === null ? row.next_at : run.fired_at + 1;
    const at = firingBefore(schedule, { nextAt, now: clock.now() });
    if (at !== undefined) await store.schedules.set({ ...row, next_at: at });
  }
}

const cutOff = ['RUN_INTERRUPTED', 'RUN_BLOCKED'];

const isCutOff = ({ origin, code }: RunRow): boolean => origin === 'schedule' && cutOff.includes(code ?? '');
