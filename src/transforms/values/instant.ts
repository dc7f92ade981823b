/**
 * A date and time as numbers, parsed from a canonical string. The seconds are whole, and their fraction is in
 * nanoseconds.
 */
export interface DateTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Seconds since midnight. A leap second counts as the first second of the next minute. */
  readonly seconds: number;
  readonly nanoseconds: number;
  /** Offset of the time zone in minutes east of UTC. Undefined if the string has no time zone. */
  readonly offset: number | undefined;
}

const dateShape = String.raw`(-?\d{4,6})-(\d\d)-(\d\d)`;
const timeShape = String.raw`(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9})\d*)?)?`;
const zoneShape = String.raw`(Z|[+-]\d\d(?::?\d\d)?)`;
const dateTime = new RegExp(`^${dateShape}(?:[T ]${timeShape} ?${zoneShape}?)?$`, 'i');
const timeOnly = new RegExp(`^${timeShape}${zoneShape}?$`, 'i');

/**
 * Parses a date that may be followed by a time and a time zone. Returns undefined if the string isn't valid or if there
 * is no such day.
 */
export function parseDateTime(text: string): DateTime | undefined {
  const match = dateTime.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const time = timeOf(match.slice(4));
  if (time === undefined || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  return { year, month, day, ...time };
}

/** Returns whether the string is a time of day in canonical form. */
export function isTime(text: string): boolean {
  const match = timeOnly.exec(text);
  return match?.[3] !== undefined && timeOf(match.slice(1)) !== undefined;
}

/** Returns the whole seconds since the start of 1970 in UTC. A time without a zone counts as UTC. */
export function epochSeconds({ year, month, day, seconds, offset }: DateTime): number {
  return daysFromEpoch(year, month, day) * 86_400 + seconds - (offset ?? 0) * 60;
}

/** Returns the days since 1970-01-01 in the proleptic Gregorian calendar, which databases use too. */
function daysFromEpoch(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / 86_400_000;
}

function timeOf(
  parts: readonly (string | undefined)[],
): Pick<DateTime, 'seconds' | 'nanoseconds' | 'offset'> | undefined {
  const [hours = '0', minutes = '0', seconds = '0', fraction = '', zone] = parts;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return undefined;
  const offset = zone === undefined ? undefined : offsetOf(zone);
  if (offset !== undefined && Math.abs(offset) > 18 * 60) return undefined;
  return {
    seconds: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds),
    nanoseconds: Number(fraction.padEnd(9, '0')),
    offset,
  };
}

function offsetOf(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', ''));
  return zone.startsWith('-') ? -minutes : minutes;
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}
