/**
 * A fixed interval of real time. Firings lie on a fixed grid: neither the duration of runs, nor a restart, nor a lost state folder, nor
 * daylight saving moves it.
 */
export interface IntervalSchedule {
  /** Milliseconds between two firings, at least one minute. */
  readonly every: number;
  /** The first instant of the grid; epoch milliseconds. Nothing fires before it. */
  readonly from: number;
  /** IANA name: the zone of dates in queries. It does not move firings. */
  readonly timezone: string;
}

/** The first firing strictly after `after` (epoch milliseconds). */
export function nextOnGrid({ every, from }: IntervalSchedule, after: number): number {
  return after < from ? from : from + (Math.floor((after - from) / every) + 1) * every;
}
