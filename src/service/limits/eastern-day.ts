import '../../lib/temporal.ts';
/** The service's day: it turns at midnight in New York, so on two days a year it has 23 or 25 hours. */
export interface EasternDay {
  /** YYYY-MM-DD */
  readonly date: string;
  /** First millisecond. */
  readonly start: number;
  /** First millisecond of the day after. */
  readonly end: number;
}

const zone = 'America/New_York';

/** The day that an instant (epoch milliseconds) lies in. */
export function easternDay(now: number): EasternDay {
  const midnight = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay();
  const next = midnight.add({ days: 1 }).startOfDay();
  return { date: midnight.toPlainDate().toString(), start: midnight.epochMilliseconds, end: next.epochMilliseconds };
}

/** The same with a cache of the last day: the calendar is read once a day, not on every call. */
export function easternCalendar(): (now: number) => EasternDay {
  let known: EasternDay | undefined;
  return (now) => {
    if (known === undefined || now < known.start || now >= known.end) known = easternDay(now);
    return known;
  };
}
