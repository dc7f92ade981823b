import '../lib/temporal.ts';

/**
 * What the clocks of a place do, as plain numbers. A "local" is what its clock shows, written as the epoch milliseconds
 * that a clock in UTC has when it shows the same: locals can be counted and compared without asking for a calendar.
 */

/** A stretch of time in which the clocks of a zone stay as they are: from (inclusive) to (exclusive), epoch milliseconds. */
interface Segment {
  readonly from: number;
  readonly to: number;
  /** Local minus UTC, milliseconds. */
  readonly offset: number;
}

const dayMs = 86_400_000;

/** Segments that were asked for, by zone: a daemon lives in the same one or two for months. */
const known = new Map<string, Segment[]>();
const mostKnown = 8;

function segmentAt(zone: string, at: number): Segment {
  const found = known.get(zone)?.find(({ from, to }) => from <= at && at < to);
  if (found !== undefined) return found;
  const here = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  // "previous" is strictly before, and a change may be at this very instant.
  const from = here.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds;
  const to = here.getTimeZoneTransition('next')?.epochMilliseconds;
  const segment: Segment = {
    from: from ?? Number.NEGATIVE_INFINITY,
    to: to ?? Number.POSITIVE_INFINITY,
    offset: here.offsetNanoseconds / 1e6,
  };
  known.set(zone, [segment, ...(known.get(zone) ?? [])].slice(0, mostKnown));
  return segment;
}

/** What the clock shows at an instant. */
export function localOf(zone: string, at: number): number {
  return at + segmentAt(zone, at).offset;
}

/**
 * The instant at which a local is first shown. One that is left out, because the clock jumps over it, has the instant of
 * the jump. Never decreases with the local.
 */
export function firstInstantOf(zone: string, local: number): number {
  const near = segmentAt(zone, local);
  const quick = local - near.offset;
  // Well inside of a segment nothing is left out or repeated; no clock has ever been changed by more than a day.
  if (near.from + dayMs <= quick && quick < near.to) return quick;
  const shown = Temporal.Instant.fromEpochMilliseconds(local).toZonedDateTimeISO('UTC').toPlainDateTime();
  const earlier = shown.toZonedDateTime(zone, { disambiguation: 'earlier' });
  if (earlier.toPlainDateTime().equals(shown)) return earlier.epochMilliseconds;
  return earlier.getTimeZoneTransition('next')!.epochMilliseconds;
}

/** Gives the first local after another that is wanted; null when there is none any more. */
export type NextLocal = (after: number) => number | null;

/** The first instant after `after` for wanted times of day: each local has exactly one instant ({@link firstInstantOf}). */
export function nextOfTimes(zone: string, nextLocal: NextLocal, after: number): number | null {
  let local = nextLocal(localOf(zone, after));
  while (local !== null) {
    const at = firstInstantOf(zone, local);
    if (at > after) return at;
    // In the hour that is repeated: this one was shown before.
    local = nextLocal(local);
  }
  return null;
}

/** The first instant after `after` at which the clock shows a wanted local: as often as it does, which may be never or twice. */
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
