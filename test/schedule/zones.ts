/** Every clock change in every zone that this machine knows, according to Temporal. In minutes. */

export interface Change {
  readonly zone: string;
  /** Epoch minutes. */
  readonly at: number;
  /** Local time minus UTC before and after the change, in minutes. */
  readonly before: number;
  readonly after: number;
}

export const minuteMs = 60_000;
export const allZones: readonly string[] = Intl.supportedValuesOf('timeZone');

/** Sorted by zone and time. `from` and `until` are years; `until` is included. */
export function changesOf(zone: string, from = 2015, until = 2037): Change[] {
  const found: Change[] = [];
  let at = Temporal.ZonedDateTime.from({ year: from, month: 1, day: 1, timeZone: zone });
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || next.year > until) return found;
    const before = next.subtract({ nanoseconds: 1 }).offsetNanoseconds / 60e9;
    found.push({ zone, at: next.epochMilliseconds / minuteMs, before, after: next.offsetNanoseconds / 60e9 });
    at = next;
  }
}

/** The local time around a change, as the minute when a UTC clock shows the same time. */
export function shown({ at, before, after }: Change, minute: number): number {
  return minute + (minute < at ? before : after);
}

/** Pseudorandom numbers, which are always the same for a seed. */
export function luck(seed: number): (below: number) => number {
  let state = (seed + 1) * 0x9e3779b9;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
