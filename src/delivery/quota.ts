import type { Destination } from '../config/config.ts';
import type { DayUse } from '../state/quota/quota.ts';
import type { Priority } from './send-queue.ts';
import '../lib/temporal.ts';

/** The time zone of the service's day (service document, section 8). */
const zone = 'America/New_York';
/**
 * Maximum difference between our clock and the service's. Near midnight, a request may therefore count towards either
 * day.
 */
const skewMs = 5_000;

/** A cache of recent days with their start and end times (epoch ms). */
const known: { day: string; from: number; until: number }[] = [];

/** The service's day at a given time, as YYYY-MM-DD. */
export function dayOf(now: number): string {
  const last = known.find(({ from, until }) => from <= now && now < until);
  if (last !== undefined) return last.day;
  const date = Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(zone).toPlainDate();
  const day = date.toString();
  known.unshift({ day, from: date.toZonedDateTime(zone).epochMilliseconds, until: midnightAfter(day) });
  known.length = Math.min(known.length, 2);
  return day;
}

/**
 * The days for which the service may count a request that arrives within `aheadMs` from now: usually one day, but two
 * around midnight.
 */
export function daysOf(now: number, aheadMs = 0): string[] {
  return [...new Set([dayOf(now - skewMs), dayOf(now + aheadMs + skewMs)])];
}

/** Start of the service's current day (epoch ms). */
export function startOfDay(now: number): number {
  return Temporal.PlainDate.from(dayOf(now)).toZonedDateTime(zone).epochMilliseconds;
}

/** Milliseconds until the next midnight in New York; a day has 23, 24 or 25 hours. */
export function untilMidnight(now: number): number {
  return midnightAfter(dayOf(now)) - now;
}

/**
 * The time (epoch ms) at which a day has certainly ended at the service, so that an account without requests left can
 * resume.
 */
export function resumeAfter(day: string): number {
  return midnightAfter(day) + skewMs;
}

/**
 * Maximum number of requests per day that this destination allows its account: the lower of the config's and the
 * service's limit, minus the reserve for manual requests if the request is scheduled.
 */
export function limitOf(
  { requestsPerDay, reserveRequests }: Pick<Destination, 'requestsPerDay' | 'reserveRequests'>,
  priority: Priority,
  { allowance }: Pick<DayUse, 'allowance'>,
): number {
  const limit = Math.min(requestsPerDay, allowance ?? requestsPerDay);
  return priority === 'person' ? limit : Math.max(0, limit - reserveRequests);
}

/**
 * After the service reported that no requests are left: the day to block, and until when. A wait that the service
 * requested is more reliable than our midnight, because our clock may be wrong.
 */
export function closing(now: number, retryAfterMs: number | undefined): { day: string; until: number } {
  const day = dayOf(now - skewMs);
  const own = resumeAfter(day);
  const requested = retryAfterMs === undefined ? own : now + retryAfterMs + skewMs;
  return { day, until: Math.min(own, requested) };
}

function midnightAfter(day: string): number {
  return Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds;
}
