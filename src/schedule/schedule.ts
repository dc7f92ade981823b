import { type CronSchedule, nextCron } from './cron.ts';
import { type DailySchedule, nextDaily } from './daily.ts';
import { type IntervalSchedule, nextOnGrid } from './interval.ts';

/** What happens to firings that were missed because no daemon was running or the machine was suspended. */
export interface Misfire {
  /** `skip`: no run. `run_once`: one run for all missed firings. `run_all`: one run for each, one after another. */
  readonly policy: 'skip' | 'run_once' | 'run_all';
  /** Firings that were missed longer ago than this are skipped. If absent, there's no limit. */
  readonly withinMs?: number;
  /** With `run_all`: only this many of the newest missed firings run. */
  readonly atMost?: number;
}

/**
 * What happens to a firing while the job's last run is still running: `skip` skips the firing, `buffer_one` holds one
 * firing until that run ends, `cancel_other` stops that run.
 */
export type Overlap = 'skip' | 'buffer_one' | 'cancel_other';

/** Options that every kind of schedule has. */
export interface Rules {
  /** Delay of each firing in milliseconds: the job's share of a `spread`. Default: 0. */
  readonly offset?: number;
  /** What happens to missed firings. Default: `run_once` without a limit. */
  readonly misfire?: Misfire;
  /** Absent: `skip`. */
  readonly overlap?: Overlap;
}

/** When a job fires. Jobs that run only on demand have no schedule. */
export type Schedule = (CronSchedule | IntervalSchedule | DailySchedule) & Rules;

/** The first firing strictly after `after` (epoch milliseconds); null if the schedule has no more firings. */
export function nextFiring(schedule: Schedule, after: number): number | null {
  const offset = schedule.offset ?? 0;
  const next = nextInstant(schedule, after - offset);
  return next === null ? null : next + offset;
}

function nextInstant(schedule: Schedule, after: number): number | null {
  if ('cron' in schedule) return nextCron(schedule, after);
  return 'every' in schedule ? nextOnGrid(schedule, after) : nextDaily(schedule, after);
}

/** The firings with `after` < firing <= `until`, in order, computed lazily. */
export function* firingsBetween(schedule: Schedule, after: number, until: number): Generator<number> {
  let at = nextFiring(schedule, after);
  while (at !== null && at <= until) {
    yield at;
    at = nextFiring(schedule, at);
  }
}

/** A firing's nominal time: what the calendar says, without the job's share of a `spread`. */
export function nominalOf({ offset = 0 }: Schedule, firing: number): number {
  return firing - offset;
}

/** A key shared by schedules with the same due times. Misfire and overlap rules don't affect it. */
export function scheduleKey(schedule: Schedule): string {
  const { offset = 0 } = schedule;
  return offset === 0 ? calendarKey(schedule) : `${calendarKey(schedule)} +${offset}`;
}

function calendarKey(schedule: Schedule): string {
  if ('cron' in schedule) return `${schedule.timezone} ${schedule.cron.trim().replace(/\s+/g, ' ')}`;
  if ('every' in schedule) return `every ${schedule.every} from ${schedule.from}`;
  const days = schedule.days === undefined ? '' : ` on ${schedule.days.join(',')}`;
  return `${schedule.timezone} at ${schedule.at.join(',')}${days}`;
}
