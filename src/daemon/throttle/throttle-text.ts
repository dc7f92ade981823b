import { spanText } from '../../lib/span.ts';
import { easternText } from '../../lib/time-text.ts';
import { nextFiring, type Schedule } from '../../schedule/schedule.ts';

/**
 * Explains in one sentence how often a throttled job runs, until when, and why. `every`: n if only every nth firing
 * runs, or 0 if none does.
 */
export function throttleText(schedule: Schedule, given: { every: number; now: number; until: number }): string {
  const { until, now } = given;
  return `${howOften(schedule, given)} until ${easternText(until, now)}: the daily allowance is not enough for more`;
}

function howOften(schedule: Schedule, given: { every: number; now: number; until: number }): string {
  const { every, now, until } = given;
  if (every === 0) return 'rests';
  const gap = gapOf(schedule, now);
  if (gap === undefined) return `runs at only every ${ordinal(every)} scheduled time`;
  if (every * gap > until - now - gap) return `runs once instead of every ${spanText(gap)}`;
  return `runs every ${spanText(every * gap)} instead of ${spanText(gap)}`;
}

/** Milliseconds between firings, if the next ones are evenly spaced. */
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

function ordinal(n: number): string {
  const tens = n % 100;
  if (tens > 10 && tens < 20) return `${n}th`;
  return `${n}${['th', 'st', 'nd', 'rd'][n % 10] ?? 'th'}`;
}
