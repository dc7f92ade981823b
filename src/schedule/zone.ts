import '../lib/temporal.ts';

/**
 * Time zones as plain numbers. A "local" is a wall-clock reading, stored as the epoch milliseconds at which a UTC clock
 * shows the same reading, so that locals can be compared and added without a calendar.
 */

/** A time span with a constant UTC offset: from `from` (inclusive) to `to` (exclusive), epoch milliseconds. */
interface Segment {
  readonly from: number;
  readonly to: number;
  /** Local minus UTC, milliseconds. */
  readonly offset: number;
}

const dayMs = 86_400_000;

/**
 * A cache of segments by zone, newest first, because a daemon needs the same one or two segments for months. Computing
 * one takes as long as reading hundreds.
 */
const segments = new Map<string, Segment[]>();
const maxCached = 64;

/**
 * UTC's only segment. It makes UTC independent of the calendar, which takes 20 ms to load. Each cron expression in a
 * config is checked in UTC.
 */
const utc: Segment = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, offset: 0 };

function segmentAt(zone: string, at: number): Segment {
  if (zone === 'UTC') return utc;
  const found = segments.get(zone)?.find(({ from, to }) => from <= at && at < to);
  if (found !== undefined) return found;
  const here = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  // "previous" means strictly before, but there may be a transition at this very instant.
  const from = here.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds;
  const to = here.getTimeZoneTransition('next')?.epochMilliseconds;
  const segment: Segment = {
    from: from ?? Number.NEGATIVE_INFINITY,
    to: to ?? Number.POSITIVE_INFINITY,
    offset: here.offsetNanoseconds / 1e6,
  };
  segments.set(zone, [segment, ...(segments.get(zone) ?? [])].slice(0, maxCached));
  return segment;
}

/** The wall-clock reading at an instant. */
export function localOf(zone: string, at: number): number {
  return at + segmentAt(zone, at).offset;
}

/**
 * The first instant at which the clock has reached this wall-clock reading. For a reading that the clock skips in spring,
 * that's the instant of the jump; a reading that is repeated in autumn counts the first time. Monotonic: a later reading
 * never maps to an earlier instant.
 */
export function firstInstantOf(zone: string, local: number): number {
  // No clock differs from UTC by a day, so the search starts before the instant.
  for (let segment = segmentAt(zone, local - dayMs); ; segment = segmentAt(zone, segment.to)) {
    const at = Math.max(segment.from, local - segment.offset);
    if (at < segment.to) return at;
  }
}

/** Returns the first wanted local after a given one; null if there is none. */
export type NextLocal = (after: number) => number | null;

/** The next instant for times of day: each wanted local fires exactly once ({@link firstInstantOf}). */
export function nextOfTimes(zone: string, nextLocal: NextLocal, after: number): number | null {
  let local = nextLocal(localOf(zone, after));
  while (local !== null) {
    const at = firstInstantOf(zone, local);
    if (at > after) return at;
    // In the hour that repeats in autumn, this reading has already fired.
    local = nextLocal(local);
  }
  return null;
}

/** The next instant with a wanted reading. A skipped reading never fires; a repeated one fires twice. */
export function nextShown(zone: string, nextLocal: NextLocal, after: number): number | null {
  let from = after;
  for (let segment = segmentAt(zone, after); ; segment = segmentAt(zone, segment.to)) {
    const local = nextLocal(from + segment.offset);
    if (local === null) return null;
    const at = local - segment.offset;
    if (at < segment.to) return at;
    from = segment.to - 1;
  }
}
