import { meantSpan, parseSpan, spanOf, spanText } from '../../lib/span.ts';
import type { Option } from '../../sdk/option.ts';
import type { Faults } from '../text/faults.ts';
import { showValue } from '../text/show-value.ts';
import { isBroken, type Part } from '../text/variables.ts';
import { readAs } from './field.ts';
import '../../lib/temporal.ts';

/** A parsed value, or an error with the allowed form and, if Sluice can guess the intended value, a suggestion. */
export type ParsedTime<T> =
  | { readonly value: T }
  | { readonly fault: string; readonly allowed: string; readonly next?: string; readonly seen?: unknown };

/** The error code for values of this kind, and the noun that error messages use for them. */
export interface Subject {
  readonly code: string;
  readonly what: string;
}

export const scheduleSubject: Subject = { code: 'CONFIG_SCHEDULE', what: 'schedule' };

/** Returns the parsed value. If parsing failed, reports an error unless the value contains an unresolved variable. */
export function valueOrFault<T>(
  parsed: ParsedTime<T>,
  at: Part,
  { faults, code, what }: Subject & { faults: Faults },
): T | undefined {
  if ('value' in parsed) return parsed.value;
  const { path, value } = at.whole ?? at;
  if (isBroken(at)) return undefined;
  const { fault, allowed, next, seen = value } = parsed;
  faults.add({ code, message: `Invalid ${what}: ${fault}`, path, seen: showValue(seen), allowed, next });
  return undefined;
}

/** Declares an option whose string is parsed as part of a schedule. */
export const timeOf = <O extends Option<unknown>, T, const U extends string = ''>(
  one: O,
  read: (written: never) => ParsedTime<T>,
  unit?: U,
) =>
  readAs(one, {
    unit,
    read: (at, faults) => valueOrFault(read(at.value as never), at, { faults, ...scheduleSubject }),
  });

/**
 * Declares a duration with a minimum and a maximum: `first` in the file becomes `firstMs` in the config object. Error
 * messages refer to the duration as `of`.
 */
export function limitedDuration<O extends Option<unknown>>(
  one: O,
  { of, from, to, ...subject }: Subject & { of: string; from: string; to: string },
) {
  const bounds = { of, from: spanOf(from), to: spanOf(to) };
  return readAs(one, {
    unit: 'Ms',
    read: (at, faults) => valueOrFault(readSpan(String(at.value), bounds), at, { faults, ...subject }),
  });
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
const maxIntervalMs = 3650 * dayMs;
const spanForm = 'a number and its unit: s, m, h, d or w, as in 15m, 1h30m, 2d';

/**
 * Parses a duration. The minimum and maximum are inclusive and in milliseconds. Error messages refer to the duration as
 * `of`.
 */
function readSpan(text: string, { of, from, to }: { of: string; from: number; to: number }): ParsedTime<number> {
  const value = parseSpan(text.trim());
  const allowed = `${spanForm}; from ${spanText(from)} to ${spanText(to)}`;
  if (value === undefined) {
    const meant = meantSpan(text);
    const next = meant === undefined ? undefined : `write it as one value: ${meant}`;
    return { fault: `${of} is not a valid duration`, allowed, next };
  }
  if (value < from) return { fault: `${of} is too short`, allowed, next: `write ${spanText(from)} or more` };
  return value > to ? { fault: `${of} is too long`, allowed, next: `write ${spanText(to)} or less` } : { value };
}

/** Parses `every`: a whole number of minutes, because the scheduler's resolution is one minute. */
export function readInterval(every: string | number): ParsedTime<number> {
  const allowed = 'whole minutes: a number and m, h, d or w, as in 15m, 1h30m, 13h, 2d';
  const text = String(every).trim();
  if (/^\d+(\.\d+)?$/.test(text)) {
    return { fault: `"every" has no unit`, allowed, next: `write ${Number(text)}m if you mean minutes` };
  }
  const value = parseSpan(text) ?? parseSpan(meantSpan(text) ?? '');
  if (value === undefined) return { fault: 'not a valid duration', allowed };
  if (value === 0) {
    const next = 'for a job that runs only on request, write schedule: manual';
    return { fault: 'the interval must be greater than zero', allowed, next };
  }
  if (value > maxIntervalMs) return { fault: 'the maximum interval is 10 years', allowed };
  const [under, over] = [Math.floor(value / minuteMs), Math.ceil(value / minuteMs)].map((n) => spanText(n * minuteMs));
  if (under !== over) {
    const next = under === '0s' ? `write ${over}` : `write ${under} or ${over}`;
    return { fault: 'the interval must be a whole number of minutes', allowed, next };
  }
  return parseSpan(text) === undefined
    ? { fault: 'not a valid duration', allowed, next: `write it as one value: ${spanText(value)}` }
    : { value };
}

/** Parses `from`: an instant with a UTC offset, or a local date and time in the schedule's zone. */
export function readGridStart(text: string, timezone: string): ParsedTime<number> {
  try {
    return { value: instantOf(text.trim(), timezone) };
  } catch {
    const allowed = '2026-11-21, 2026-11-21T06:30 (local time in the time zone), or 2026-11-21T06:30Z';
    return { fault: `"from" is not a valid date and time`, allowed };
  }
}

function instantOf(text: string, timezone: string): number {
  const isPlain = !/([zZ]|[+-]\d{2}(:?\d{2})?)$/.test(text.replace(/^[^T ]*/, ''));
  if (!isPlain) return Temporal.Instant.from(text).epochMilliseconds;
  return Temporal.PlainDateTime.from(text).toZonedDateTime(timezone).epochMilliseconds;
}

/** Parses `at`: times of day as `HH:MM`. Returns them sorted and without duplicates. */
export function readTimes(at: string | readonly string[]): ParsedTime<string[]> {
  const times = (typeof at === 'string' ? at.split(',') : at).map((time) => time.trim());
  const wrong = times.find((time) => !/^([01]?\d|2[0-3]):[0-5]\d$/.test(time));
  if (wrong === undefined) return { value: [...new Set(times.map((time) => time.padStart(5, '0')))].sort() };
  const meant = meantTime(wrong);
  return {
    fault: `"${wrong}" is not a valid time`,
    allowed: 'hours and minutes from 00:00 to 23:59, as in "06:00" or ["06:00", "18:30"]',
    seen: wrong,
    next: meant === undefined ? undefined : `did you mean "${meant}"?`,
  };
}

/** Guesses the intended time: `6am`, `18.30`, `6`, `24:00`, `06:00:00`. */
function meantTime(text: string): string | undefined {
  const [, hour, minute = '00', half] = /^(\d{1,2})(?:[:.h](\d{2}))?(?::00)?\s*([ap]m)?$/i.exec(text) ?? [];
  if (hour === undefined || Number(minute) > 59) return undefined;
  const isHalf = half !== undefined;
  if (isHalf && (Number(hour) === 0 || Number(hour) > 12)) return undefined;
  const hours = isHalf ? (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0) : Number(hour) % 24;
  return Number(hour) > 24 || (Number(hour) === 24 && minute !== '00')
    ? undefined
    : `${String(hours).padStart(2, '0')}:${minute}`;
}

const dayNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/**
 * Parses `days`: 1 (Monday) to 7 (Sunday). Returns them sorted and without duplicates. A range may wrap around the end
 * of the week.
 */
export function readDays(days: string | readonly string[]): ParsedTime<number[]> {
  const parts = (typeof days === 'string' ? days.split(',') : days).map((part) => part.trim());
  const wanted = new Set<number>();
  for (const part of parts) {
    const ends = part.split('-').map(dayOf);
    const [first, last = first] = ends;
    if (first === undefined || last === undefined || ends.length > 2 || ends.includes(undefined)) return noDays(part);
    for (let day = first; ; day = (day % 7) + 1) {
      wanted.add(day);
      if (day === last) break;
    }
  }
  return { value: [...wanted].sort() };
}

function dayOf(text: string): number | undefined {
  const name = text.trim().toLowerCase();
  const index = dayNames.findIndex((known) => known === name || known.slice(0, 3) === name);
  return index === -1 ? undefined : index + 1;
}

function noDays(part: string): ParsedTime<never> {
  const allowed = 'MON, TUE, WED, THU, FRI, SAT, SUN, ranges such as MON-FRI, and lists of them';
  const next = /^weekdays?$|^workdays?$/i.test(part) ? 'did you mean "MON-FRI"?' : undefined;
  const fix = /^weekends?$/i.test(part) ? 'did you mean "SAT-SUN"?' : next;
  return {
    fault: `"${part}" is not a valid day of the week`,
    allowed,
    seen: part,
    next: fix,
  };
}
