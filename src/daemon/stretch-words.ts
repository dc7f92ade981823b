import { nextFiring, type Schedule } from '../schedule/schedule.ts';
import { spanText } from '../schedule/span.ts';

/**
 * Says of a job that it runs less often, so that whoever wonders at night understands: how, until when and why. `every`:
 * only every n-th firing runs; 0: none.
 */
export function stretchWords(schedule: Schedule, given: { every: number; now: number; until: number }): string {
  const { until } = given;
  return `${howOften(schedule, given)} until ${easternTime(until)}: the requests of the day do not reach for more`;
}

function howOften(schedule: Schedule, { every, now }: { every: number; now: number }): string {
  if (every === 0) return 'rests';
  const gap = gapOf(schedule, now);
  if (gap === undefined) return `runs at every ${ordinal(every)} firing`;
  return `runs every ${spanText(every * gap)} instead of ${spanText(gap)}`;
}

/** Milliseconds between firings, where the next ones are alike. */
function gapOf(schedule: Schedule, now: number): number | undefined {
  let at: number | null = now;
  const next: number[] = [];
  while (next.length < 4 && at !== null) {
    at = nextFiring(schedule, at);
    if (at !== null) next.push(at);
  }
  const gaps = next.slice(1).map((one, i) => one - next[i]!);
  return gaps.length === 3 && gaps.every((gap) => gap === gaps[0]) ? gaps[0] : undefined;
}

/** `00:00 EST`: the service's day turns in New York, and its people know it by that. */
function easternTime(at: number): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('America/New_York');
  return `${zoned.toPlainTime().toString({ smallestUnit: 'minute' })} ${zoned.offset === '-05:00' ? 'EST' : 'EDT'}`;
}

function ordinal(n: number): string {
  const tens = n % 100;
  if (tens > 10 && tens < 20) return `${n}th`;
  return `${n}${['th', 'st', 'nd', 'rd'][n % 10] ?? 'th'}`;
}
