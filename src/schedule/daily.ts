import { nextOfTimes } from './zone.ts';

/** Times of day, as a pure calendar. Daylight saving works as it does for times of day in a cron expression. */
export interface DailySchedule {
  /** Times as `HH:MM`, sorted and without duplicates. */
  readonly at: readonly string[];
  /** Days of the week, 1 = Monday to 7 = Sunday, in order; absent: every day. */
  readonly days?: readonly number[];
  /** IANA name. */
  readonly timezone: string;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** The first firing strictly after `after` (epoch milliseconds). Each time fires exactly once on each of its days. */
export function nextDaily({ at, days, timezone }: DailySchedule, after: number): number | null {
  const times = at.map(timeOf);
  const isWanted = (day: number): boolean => days === undefined || days.includes(weekdayOf(day));
  const nextLocal = (local: number): number => {
    for (let day = Math.floor(local / dayMs) * dayMs; ; day += dayMs) {
      const time = isWanted(day) ? times.find((one) => day + one > local) : undefined;
      if (time !== undefined) return day + time;
    }
  };
  return nextOfTimes(timezone, nextLocal, after);
}

function timeOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return (hours * 60 + minutes) * minuteMs;
}

/** 1970 began on a Thursday. */
function weekdayOf(day: number): number {
  return ((((day / dayMs + 3) % 7) + 7) % 7) + 1;
}
