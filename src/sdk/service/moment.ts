import { Problem } from '../../lib/problem.ts';
import '../../lib/temporal.ts';

/**
 * Vendors' date formats: `date` 2026-01-31, `iso` 2026-01-31T09:00:00Z, `local` 2026-01-31T09:00:00 (in the run's zone,
 * without an offset), `offset` 2026-01-31T10:00:00+01:00, `epoch` seconds, `epoch_ms` milliseconds, `dotnet`
 * /Date(1769850000000+0000)/, `http` Sat, 31 Jan 2026 09:00:00 GMT, or a pattern of YYYY, MM, DD, HH, mm, ss and SSS.
 */
export type DateFormat =
  | 'date'
  | 'iso'
  | 'local'
  | 'offset'
  | 'epoch'
  | 'epoch_ms'
  | 'dotnet'
  | 'http'
  | (string & Record<never, never>);

/** A day or an instant in the run's zone. */
export class Moment {
  readonly at: Temporal.ZonedDateTime;
  /** Formatted as a day by default. */
  readonly isDay: boolean;

  constructor(at: Temporal.ZonedDateTime, isDay: boolean) {
    this.at = at;
    this.isDay = isDay;
  }

  /** A run's current time: its logical time (in epoch milliseconds) if set; otherwise, the system time. */
  static ofRun(zone: string, logicalAt: number = Date.now()): Moment {
    return new Moment(Temporal.Instant.fromEpochMilliseconds(logicalAt).toZonedDateTimeISO(zone), false);
  }

  /** Adds a duration such as `7d` or `36h`, or subtracts it if it has a minus sign (`-1mo`). */
  plus(span: string): Moment {
    const { duration, isTime } = durationOf(span);
    return new Moment(this.at.add(duration), this.isDay && !isTime);
  }

  /** Formats the moment; by default, as a day or an instant. */
  text(format: DateFormat = this.isDay ? 'date' : 'iso'): string {
    const { at } = this;
    const named = formats[format];
    return named === undefined ? patterned(at, format) : named(at);
  }
}

const units: Readonly<Record<string, keyof Temporal.DurationLikeObject>> = {
  s: 'seconds',
  m: 'minutes',
  h: 'hours',
  d: 'days',
  w: 'weeks',
  mo: 'months',
  y: 'years',
};

function durationOf(span: string): { duration: Temporal.DurationLikeObject; isTime: boolean } {
  const [, sign, count, unit] = /^([+-]?)(\d+)(mo|[smhdwy])$/.exec(span.trim()) ?? [];
  if (unit === undefined) throw badSpan(span);
  const amount = Number(count) * (sign === '-' ? -1 : 1);
  return { duration: { [units[unit]!]: amount }, isTime: ['s', 'm', 'h'].includes(unit) };
}

/**
 * A duration in seconds, with 30-day months and 365-day years. Use it for budgets and waits, which don't depend on the
 * calendar.
 */
export function secondsOf(span: string): number {
  const { duration } = durationOf(span);
  const { years = 0, months = 0, ...rest } = duration;
  const days = years * 365 + months * 30 + (rest.days ?? 0);
  return Temporal.Duration.from({ seconds: 0, ...rest, days }).total({ unit: 'seconds', relativeTo: '2026-01-01' });
}

const pad = (value: number, width: number) => String(value).padStart(width, '0');
const instant = (at: Temporal.ZonedDateTime) => at.toInstant().toString({ fractionalSecondDigits: fraction(at) });
const fraction = (at: Temporal.ZonedDateTime) => (at.microsecond > 0 ? 6 : at.millisecond > 0 ? 3 : 0);

const formats: Readonly<Record<string, (at: Temporal.ZonedDateTime) => string>> = {
  date: (at) => at.toPlainDate().toString(),
  iso: instant,
  local: (at) => at.toPlainDateTime().toString({ fractionalSecondDigits: fraction(at) }),
  offset: (at) => at.toString({ timeZoneName: 'never', calendarName: 'never', fractionalSecondDigits: fraction(at) }),
  epoch: (at) => String(Math.floor(at.epochMilliseconds / 1000)),
  epoch_ms: (at) => String(at.epochMilliseconds),
  dotnet: (at) => `/Date(${at.epochMilliseconds}+0000)/`,
  http: (at) => new Date(at.epochMilliseconds).toUTCString(),
};

function patterned(at: Temporal.ZonedDateTime, pattern: string): string {
  const parts: Readonly<Record<string, string>> = {
    YYYY: pad(at.year, 4),
    MM: pad(at.month, 2),
    DD: pad(at.day, 2),
    HH: pad(at.hour, 2),
    mm: pad(at.minute, 2),
    ss: pad(at.second, 2),
    SSS: pad(at.millisecond, 3),
  };
  return pattern.replaceAll(/YYYY|MM|DD|HH|mm|SSS|ss/g, (name) => parts[name]!);
}

/**
 * Parses a date from a vendor or a user. If no format is given, accepts a day, or a time with or without a time zone; a
 * time without one is in `zone`. Undefined if the value isn't a date.
 */
export function readMoment(text: string, zone: string, format?: DateFormat): Moment | undefined {
  const trimmed = text.trim();
  try {
    if (format === 'epoch' || format === 'epoch_ms') return fromEpoch(trimmed, zone, format === 'epoch' ? 1000 : 1);
    if (format === 'dotnet') return fromDotnet(trimmed, zone);
    if (format === 'http') return fromEpoch(String(Date.parse(trimmed)), zone, 1);
    const isNamed = format === undefined || Object.hasOwn(formats, format);
    return isNamed ? fromIso(trimmed, zone) : fromPattern(trimmed, zone, format);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function fromEpoch(text: string, zone: string, factor: number): Moment | undefined {
  const value = Number(text);
  if (text === '' || !Number.isFinite(value)) return undefined;
  return new Moment(Temporal.Instant.fromEpochMilliseconds(Math.round(value * factor)).toZonedDateTimeISO(zone), false);
}

function fromDotnet(text: string, zone: string): Moment | undefined {
  const milliseconds = /^\/Date\((-?\d+)(?:[+-]\d{4})?\)\/$/.exec(text)?.[1];
  return milliseconds === undefined ? undefined : fromEpoch(milliseconds, zone, 1);
}

function fromIso(text: string, zone: string): Moment {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return new Moment(Temporal.PlainDate.from(text).toZonedDateTime(zone), true);
  const spelled = text.replace(/^(\d{4}-\d\d-\d\d) /, '$1T').replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  const hasZone = /(?:Z|[+-]\d\d(?::\d\d)?)$/i.test(spelled.slice(10));
  if (hasZone) return new Moment(Temporal.Instant.from(spelled).toZonedDateTimeISO(zone), false);
  return new Moment(Temporal.PlainDateTime.from(spelled).toZonedDateTime(zone), false);
}

function fromPattern(text: string, zone: string, pattern: string): Moment | undefined {
  const names: string[] = [];
  const escaped = pattern.replaceAll(/[.*+?^$()[\]{}|\\]/g, '\\$&');
  const shape = escaped.replaceAll(/YYYY|MM|DD|HH|mm|SSS|ss/g, (name) => {
    names.push(name);
    return `(\\d{${name.length}})`;
  });
  const found = new RegExp(`^${shape}$`).exec(text);
  if (found === null) return undefined;
  const part = (name: string, otherwise: number) => {
    const at = names.indexOf(name);
    return at < 0 ? otherwise : Number(found[at + 1]);
  };
  const at = Temporal.ZonedDateTime.from(
    {
      timeZone: zone,
      year: part('YYYY', 1970),
      month: part('MM', 1),
      day: part('DD', 1),
      hour: part('HH', 0),
      minute: part('mm', 0),
      second: part('ss', 0),
      millisecond: part('SSS', 0),
    },
    { overflow: 'reject' },
  );
  return new Moment(at, !/HH|mm|ss/.test(pattern));
}

function badSpan(seen: string): Problem {
  return new Problem({
    code: 'TEMPLATE_SPAN',
    family: 'config',
    message: 'not a valid duration',
    seen,
    allowed: 'a number followed by s, m, h, d, w, mo or y, such as 7d, 3mo or 36h',
  });
}
