/**
 * A fixed span of real time between firings. They stand on a grid that is fixed once and for all: neither how long runs
 * take, nor a restart, nor a lost state folder, nor a change of the clocks moves it.
 */
export interface IntervalSchedule {
  /** Milliseconds between two firings, at least one minute. */
  readonly every: number;
  /** The first instant of the grid; epoch milliseconds. Nothing fires before it. */
  readonly from: number;
  /** IANA name: where the days of what is read are reckoned. It does not move a firing. */
  readonly timezone: string;
}

/** The first firing strictly after `after` (epoch milliseconds). */
export function nextOnGrid({ every, from }: IntervalSchedule, after: number): number {
  return after < from ? from : from + (Math.floor((after - from) / every) + 1) * every;
}
