import { present } from '../../lib/present.ts';
import { spanText } from '../../lib/span.ts';
import type { Schedule } from '../../schedule/schedule.ts';

const dayNames = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];

/** Describes when a schedule fires, in the config's short syntax. */
export function scheduleText(schedule: Schedule): string {
  if ('cron' in schedule) return schedule.cron;
  if ('every' in schedule) return `every ${spanText(schedule.every)}`;
  return `at ${schedule.at.join(', ')}${schedule.days === undefined ? '' : ` on ${daysText(schedule.days)}`}`;
}

/** Formats weekdays: `MON-FRI`, `MON, WED, SAT-SUN`. */
function daysText(days: readonly number[]): string {
  const ranges: number[][] = [];
  for (const day of days) {
    const range = ranges.at(-1);
    if (range?.at(-1) === day - 1) range.push(day);
    else ranges.push([day]);
  }
  const name = (day: number | undefined): string => dayNames[day! - 1]!;
  return ranges
    .map((range) => (range.length === 1 ? name(range[0]) : `${name(range[0])}-${name(range.at(-1))}`))
    .join(', ');
}

/** Shows a schedule with the config's keys, including the delay that `spread` gives this job. */
export function describeSchedule(schedule: Schedule): object {
  const { misfire, overlap, offset } = schedule;
  return present({
    ...timesOf(schedule),
    timezone: schedule.timezone,
    misfire: misfire === undefined ? 'run_once' : describeMisfire(misfire),
    overlap: overlap ?? 'skip',
    later: offset === undefined ? undefined : spanText(offset),
  });
}

function timesOf(schedule: Schedule): object {
  if ('cron' in schedule) return { cron: schedule.cron };
  if ('at' in schedule) {
    const days = schedule.days?.map((day) => dayNames[day - 1]);
    return { at: schedule.at, days };
  }
  const from = new Date(schedule.from).toISOString();
  return { every: spanText(schedule.every), ...(schedule.from === 0 ? {} : { from }) };
}

function describeMisfire({ policy, withinMs, atMost }: NonNullable<Schedule['misfire']>): string | object {
  if (withinMs === undefined && atMost === undefined) return policy;
  return present({
    policy,
    within: withinMs === undefined ? undefined : spanText(withinMs),
    at_most: atMost,
  });
}
