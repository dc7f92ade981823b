import type { Schedule } from '../schedule/schedule.ts';
import { spanText } from '../schedule/span.ts';

const dayNames = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];

/** A schedule in the words of the file. `later` is the job's share of a spread. */
export function describeSchedule(schedule: Schedule): object {
  const { misfire, overlap, offset } = schedule;
  return {
    ...timesOf(schedule),
    timezone: schedule.timezone,
    misfire: misfire === undefined ? 'run_once' : describeMisfire(misfire),
    overlap: overlap ?? 'skip',
    ...(offset === undefined ? {} : { later: spanText(offset) }),
  };
}

function timesOf(schedule: Schedule): object {
  if ('cron' in schedule) return { cron: schedule.cron };
  if ('at' in schedule) {
    const days = schedule.days?.map((day) => dayNames[day - 1]);
    return { at: schedule.at, ...(days === undefined ? {} : { days }) };
  }
  const from = new Date(schedule.from).toISOString();
  return { every: spanText(schedule.every), ...(schedule.from === 0 ? {} : { from }) };
}

function describeMisfire({ policy, within, atMost }: NonNullable<Schedule['misfire']>): string | object {
  if (within === undefined && atMost === undefined) return policy;
  return {
    policy,
    ...(within === undefined ? {} : { within: spanText(within) }),
    ...(atMost === undefined ? {} : { at_most: atMost }),
  };
}
