import '../../lib/temporal.ts';
/** A day for the service's limits. It ends at midnight in New York, so one day a year has 23 hours and one has 25. */
export interface EasternDay {
  /** YYYY-MM-DD */
  readonly date: string;
  /** First millisecond. */
  readonly start: number;
  /** The first millisecond of the next day, in epoch milliseconds. */
  readonly end: number;
}

const zone = 'America/New_York';

/** Returns the day that contains an instant, which is given in epoch milliseconds. */
export function easternDay(now: number): EasternDay {
  const midnight = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay();
  const next = midnight.add({ days: 1 }).startOfDay();
  return { date: midnight.toPlainDate().toString(), start: midnight.epochMilliseconds, end: next.epochMilliseconds };
}

/**
 * Creates a function like {@link easternDay} that caches the last day, so that the calendar isn't computed for every
 * call.
 */
export function easternCalendar(): (now: number) => EasternDay {
  let known: EasternDay | undefined;
  return (now) => {
    if (known === undefined || now < known.start || now >= known.end) known = easternDay(now);
    return known;
  };
}
