import '../../lib/temporal.ts';
/** The service's day ends at midnight in New York, so two days a year have 23 or 25 hours. */
export interface EasternDay {
  /** YYYY-MM-DD */
  readonly date: string;
  /** First millisecond. */
  readonly start: number;
  /** First millisecond of the next day. */
  readonly end: number;
}

const zone = 'America/New_York';

/** The day of an instant (epoch milliseconds). */
export function easternDay(now: number): EasternDay {
  const midnight = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay();
  const next = midnight.add({ days: 1 }).startOfDay();
  return { date: midnight.toPlainDate().toString(), start: midnight.epochMilliseconds, end: next.epochMilliseconds };
}

/** Like {@link easternDay}, but caches the last day, so the calendar isn't computed on every call. */
export function easternCalendar(): (now: number) => EasternDay {
  let known: EasternDay | undefined;
  return (now) => {
    if (known === undefined || now < known.start || now >= known.end) known = easternDay(now);
    return known;
  };
}
