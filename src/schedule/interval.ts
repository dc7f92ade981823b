/**
 * A fixed interval of real time. Firings are on a fixed grid that doesn't depend on run durations, restarts, the state
 * folder or daylight saving.
 */
export interface IntervalSchedule {
  /** Milliseconds between firings, at least one minute. */
  readonly every: number;
  /** The start of the grid in epoch milliseconds. There are no firings before it. */
  readonly from: number;
  /** IANA time zone for dates in queries. It doesn't affect firings. */
  readonly timezone: string;
}

/** The first firing strictly after `after` (epoch milliseconds). */
export function nextOnGrid({ every, from }: IntervalSchedule, after: number): number {
  return after < from ? from : from + (Math.floor((after - from) / every) + 1) * every;
}
