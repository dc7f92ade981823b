import { type CronSchedule, nextCron } from './cron.ts';
import { type DailySchedule, nextDaily } from './daily.ts';
import { type IntervalSchedule, nextOnGrid } from './interval.ts';

/** What becomes of firings whose instant passed while nothing could act on them: no daemon ran, the machine slept. */
export interface Misfire {
  /** `skip`: nothing. `run_once`: one run for all of them. `run_all`: each has its run, one after the other. */
  readonly policy: 'skip' | 'run_once' | 'run_all';
  /** Milliseconds: what was missed longer ago than this is passed over. Absent: however long ago. */
  readonly within?: number;
  /** With `run_all`: of more than so many, the newest. */
  readonly atMost?: number;
}

/**
 * What becomes of a firing whose job is still at its last run: `skip` passes it over, `buffer_one` lets one wait for the
 * end of that run, `cancel_other` stops that run.
 */
export type Overlap = 'skip' | 'buffer_one' | 'cancel_other';

/** What goes with every kind of schedule. */
export interface Rules {
  /** Milliseconds by which every firing is later than the calendar says: the job's share of a spread. Absent: 0. */
  readonly offset?: number;
  /** Absent: `run_once`, however long ago. */
  readonly misfire?: Misfire;
  /** Absent: `skip`. */
  readonly overlap?: Overlap;
}

/** When a job fires. A job that runs only when asked to has none. */
export type Schedule = (CronSchedule | IntervalSchedule | DailySchedule) & Rules;

/** The first firing strictly after `after` (epoch milliseconds); null when there is none, ever. */
export function nextFiring(schedule: Schedule, after: number): number | null {
  const offset = schedule.offset ?? 0;
  const next = nextInstant(schedule, after - offset);
  return next === null ? null : next + offset;
}

function nextInstant(schedule: Schedule, after: number): number | null {
  if ('cron' in schedule) return nextCron(schedule, after);
  return 'every' in schedule ? nextOnGrid(schedule, after) : nextDaily(schedule, after);
}

/** The firings with `after` < firing <= `until`, in order, computed as they are asked for. */
export function* firingsBetween(schedule: Schedule, after: number, until: number): Generator<number> {
  let at = nextFiring(schedule, after);
  while (at !== null && at <= until) {
    yield at;
    at = nextFiring(schedule, at);
  }
}

/** The instant that a firing stands for: what the calendar says, without the job's share of a spread. */
export function nominalOf({ offset = 0 }: Schedule, firing: number): number {
  return firing - offset;
}

/** Equal for schedules that fire at the same instants by their text. What is done about late firings does not count. */
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
