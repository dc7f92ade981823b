import { nextFiring, type Schedule } from '../../schedule/schedule.ts';
import type { ThrottledJobRow } from '../../state/tables.ts';

/** Returns the nth firing after a given time (epoch ms), or null if there are fewer firings. */
export function nthFiring(schedule: Schedule, after: number, n: number): number | null {
  let at: number | null = after;
  for (let i = 0; i < n && at !== null; i++) at = nextFiring(schedule, at);
  return at;
}

/**
 * When a throttled job runs next. `lastAt`: start of the last run that used up a firing (see `usesTurn`); undefined if
 * there was none.
 */
export function nextThrottledRun(
  schedule: Schedule,
  { every, until }: Pick<ThrottledJobRow, 'every' | 'until'>,
  { now, lastAt }: { now: number; lastAt: number | undefined },
): number | null {
  const tomorrow = nextFiring(schedule, until - 1);
  if (every === 0) return tomorrow;
  const turn = lastAt === undefined ? null : nthFiring(schedule, lastAt, every);
  const next = turn !== null && turn > now ? turn : nextFiring(schedule, now);
  return next === null || tomorrow === null ? (next ?? tomorrow) : Math.min(next, tomorrow);
}
