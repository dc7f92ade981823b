import { firingsBetween, type Schedule, scheduleKey } from '../../schedule/schedule.ts';

/** Firings are sorted in time slices of this length, so that memory never has to hold all firings at once. */
const sliceMs = 3_600_000;

interface Firing {
  readonly schedule: Schedule;
  /** Number of catch-up runs that are due now or, if `runsFrom` is set, at that time. */
  readonly overdue: number;
  /** The job doesn't run before this time. If absent, the job may run now. */
  readonly runsFrom?: number;
}

/**
 * Yields all firings in chronological order. Firings at the same time are in config order. Each schedule is computed
 * only once.
 */
export function* firingsOf<J extends Firing>(
  jobs: readonly J[],
  now: number,
  until: number,
): Generator<{ readonly at: number; readonly job: J }> {
  const catchUps = jobs.flatMap((job, order) =>
    Array.from({ length: job.overdue }, () => ({ at: startOf(job, now), order, job })),
  );
  yield* catchUps.filter(({ at }) => at === now);
  const groups = groupsOf(jobs, now, until);
  for (let from = now; from < until; from += sliceMs) {
    const last = Math.min(from + sliceMs, until - 1);
    const due = groups.flatMap((group) => take(group, last)).filter(({ at, job }) => at > startOf(job, now));
    const made = catchUps.filter(({ at }) => at > from && at <= last);
    yield* [...made, ...due].sort((a, b) => a.at - b.at || a.order - b.order);
  }
}

const startOf = ({ runsFrom }: Firing, now: number): number => Math.max(now, runsFrom ?? now);

interface Group<J> {
  /** The calendar's times. The group's jobs fire at a fixed offset from them. */
  readonly nominal: readonly number[];
  readonly offset: number;
  readonly jobs: { readonly job: J; readonly order: number }[];
  /** Index of the first time whose firings haven't been yielded yet. */
  next: number;
}

/** Returns a group's firings up to and including a time, without those that were already yielded. */
function take<J>(group: Group<J>, last: number): { at: number; order: number; job: J }[] {
  const due: { at: number; order: number; job: J }[] = [];
  for (; group.next < group.nominal.length; group.next++) {
    const at = group.nominal[group.next]! + group.offset;
    if (at > last) break;
    for (const { job, order } of group.jobs) due.push({ at, order, job });
  }
  return due;
}

/** Groups the jobs that share a calendar. Each calendar is computed once, however its jobs are spread. */
function groupsOf<J extends Firing>(jobs: readonly J[], now: number, until: number): Group<J>[] {
  const ordered = jobs.map((job, order) => ({ job, order }));
  const calendars = Map.groupBy(ordered, ({ job: { schedule } }) => scheduleKey({ ...schedule, offset: 0 }));
  return [...calendars.values()].flatMap((alike) => {
    const offsetOf = ({ job }: { job: J }): number => job.schedule.offset ?? 0;
    const calendar = { ...alike[0]!.job.schedule, offset: 0 };
    const furthest = Math.max(...alike.map(offsetOf));
    const nominal = [...firingsBetween(calendar, now - furthest, until - 1)];
    return [...Map.groupBy(alike, offsetOf)].map(([offset, group]) => ({ nominal, offset, jobs: group, next: 0 }));
  });
}
