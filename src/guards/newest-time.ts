import '../lib/temporal.ts';

/**
 * Dates further in the future than this are treated as typos. Otherwise, a single typo could hide a lack of new rows
 * for years.
 */
const aheadMs = 86_400_000;

/** A date without a time counts as the last second of its day, so that the date is displayed correctly. */
const secondMs = 1000;

const month = String.raw`(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`;
const clock = String.raw`([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?`;
const shape = new RegExp(`^${month}(?:[T ]${clock}( ?Z|[+-]\\d\\d(?::?\\d\\d)?)?)?$`, 'i');

/**
 * Finds the newest of many dates and times, which are given as strings. A date without a time counts as the end of its
 * day. Strings without a zone are compared as strings, so only the newest one has to be converted by the zone's rules.
 */
export class NewestTime {
  readonly #timezone: string;
  readonly #latest: number;
  /** `#latest` as a local time, in the format of the strings. */
  readonly #latestLocal: string;
  #day = '';
  #local = '';
  #utc = '';
  #instant = Number.NEGATIVE_INFINITY;

  constructor({ timezone, now }: { timezone: string; now: number }) {
    this.#timezone = timezone;
    this.#latest = now + aheadMs;
    const latest = Temporal.Instant.fromEpochMilliseconds(Math.round(this.#latest)).toZonedDateTimeISO(timezone);
    this.#latestLocal = latest.toPlainDateTime().toString();
  }

  /** Adds another value; ignores anything that isn't a date, with or without a time. */
  take(text: string): void {
    // Fast path: most values are older than the newest one so far, and strings in the same format can be compared
    // directly.
    if (text.length === 10 ? text <= this.#day : isUtc(text) && text <= this.#utc) return;
    const match = shape.exec(text);
    if (match === null) return;
    if (match[4] === undefined) this.#day = later(this.#day, text, this.#latestLocal);
    else if (match[7] === undefined) this.#local = later(this.#local, text.replace(' ', 'T'), this.#latestLocal);
    else this.#takeZoned(text, match);
  }

  /** The newest time in epoch milliseconds; undefined if there was none. */
  instant(): number | undefined {
    const newest = Math.max(this.#instant, this.#endOfDay(), this.#ofLocal());
    return Number.isFinite(newest) ? newest : undefined;
  }

  #takeZoned(text: string, match: RegExpExecArray): void {
    const [, year, mon, day, hour, minute, second = '0', zone = 'Z'] = match;
    const utc = Date.UTC(Number(year), Number(mon) - 1, Number(day), Number(hour), Number(minute), Number(second));
    const at = utc - offsetMs(zone.trim());
    if (at > this.#latest || at <= this.#instant) return;
    this.#instant = at;
    if (isUtc(text)) this.#utc = text;
  }

  #endOfDay(): number {
    if (this.#day === '') return Number.NEGATIVE_INFINITY;
    const [year, month, day] = this.#day.split('-').map(Number) as [number, number, number];
    return (
      Temporal.PlainDate.from({ year, month, day }).add({ days: 1 }).toZonedDateTime(this.#timezone).epochMilliseconds -
      secondMs
    );
  }

  #ofLocal(): number {
    const match = shape.exec(this.#local);
    if (match === null) return Number.NEGATIVE_INFINITY;
    const [year, month, day, hour, minute] = match.slice(1, 6).map(Number) as [number, number, number, number, number];
    const local = Temporal.PlainDateTime.from({ year, month, day, hour, minute, second: Number(match[6] ?? 0) });
    return local.toZonedDateTime(this.#timezone).epochMilliseconds;
  }
}

/**
 * Whether a string has the most common format, which is UTC with seconds. Seconds are required, because 10:00Z would
 * compare as later than 10:00:30Z.
 */
function isUtc(text: string): boolean {
  return text.endsWith('Z') && text[10] === 'T' && text[16] === ':';
}

function later(known: string, text: string, latest: string): string {
  return text > known && text <= latest ? text : known;
}

function offsetMs(zone: string): number {
  if (/^z$/i.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', ''));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}
