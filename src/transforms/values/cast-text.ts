import Big from 'big.js';
import type { ColumnType } from '../../sdk/column.ts';
import { type DateTime, isTime, parseDateTime } from './instant.ts';

/**
 * Converts the canonical string of a value to another type's canonical string. Returns undefined if the other type
 * can't represent the value.
 */
export type Convert = (text: string) => string | undefined;

type From = Partial<Record<ColumnType, Convert>>;

const same: Convert = (text) => text;
/**
 * Largest exponent that is accepted. Writing a number like 1e1000000 without its exponent would fill the memory with
 * zeros.
 */
const maxExponent = 400;
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const truths = new Set(['true', 't', 'yes', 'y', 'on', '1']);
const untruths = new Set(['false', 'f', 'no', 'n', 'off', '0']);

/**
 * The conversions between types, by target type and then by source type. If a pair of types is missing, the cast is
 * impossible. Nothing is rounded or guessed: a decimal becomes an integer only if it's whole, and a local time never
 * becomes an instant.
 */
const rules: Record<ColumnType, From> = {
  text: {
    uuid: same,
    integer: same,
    decimal: same,
    float: same,
    boolean: same,
    date: same,
    time: same,
    timestamp: same,
    timestamptz: same,
    json: same,
    binary: same,
  },
  integer: {
    text: wholeNumber,
    decimal: wholeNumber,
    float: wholeNumber,
    boolean: (text) => (text === 'true' ? '1' : '0'),
  },
  decimal: { text: plainNumber, integer: same, float: (text) => (isFiniteText(text) ? plainNumber(text) : text) },
  float: {
    text: floatNumber,
    integer: floatNumber,
    decimal: (text) => (isFiniteText(text) ? floatNumber(text) : text),
  },
  boolean: { text: truth, integer: truth },
  date: { text: dateOf, timestamp: dateOf, timestamptz: dateOf },
  time: { text: timeOf, timestamp: timePart, timestamptz: timePart },
  timestamp: { text: wallClock, date: wallClock, timestamptz: withoutZone },
  timestamptz: { text: instant },
  json: { text: validJson, integer: same, decimal: finite, float: finite, boolean: same, ...quoted() },
  uuid: { text: uuid },
  binary: {},
};

/** Returns the conversion between two types, or undefined if the cast is impossible. */
export function conversion(from: ColumnType, to: ColumnType): Convert | undefined {
  return from === to ? same : rules[to][from];
}

/** Returns whether a cast doesn't change the strings, so that cells can keep their bytes. */
export function keepsText(from: ColumnType, to: ColumnType): boolean {
  return conversion(from, to) === same;
}

/** Returns the types to which a column of this type can be cast. The list is shown in error messages. */
export function castTargets(from: ColumnType): ColumnType[] {
  return (Object.keys(rules) as ColumnType[]).filter((to) => rules[to][from] !== undefined);
}

function plainNumber(text: string): string | undefined {
  const trimmed = text.trim();
  if (!number.test(trimmed)) return undefined;
  const [digits, exponent = '0'] = trimmed.toLowerCase().split('e');
  if (Math.abs(Number(exponent)) > maxExponent) return undefined;
  const scale = Math.max(0, (digits!.split('.')[1] ?? '').length - Number(exponent));
  const plain = digits!.replace('+', '').replace(/\.$/, '') + (exponent === '0' ? '' : `e${exponent}`);
  return new Big(plain).toFixed(scale);
}

function wholeNumber(text: string): string | undefined {
  const [whole, fraction = ''] = plainNumber(text)?.split('.') ?? [];
  return /^0*$/.test(fraction) ? whole : undefined;
}

function floatNumber(text: string): string | undefined {
  const trimmed = text.trim();
  const value = number.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (!Number.isFinite(value)) return undefined;
  return Object.is(value, -0) ? '-0' : String(value);
}

function isFiniteText(text: string): boolean {
  return text !== 'NaN' && text !== 'Infinity' && text !== '-Infinity';
}

function finite(text: string): string | undefined {
  return isFiniteText(text) ? text : undefined;
}

function truth(text: string): string | undefined {
  const word = text.trim().toLowerCase();
  if (truths.has(word)) return 'true';
  return untruths.has(word) ? 'false' : undefined;
}

/**
 * Returns the date as it's written. For an instant, this is the date in the time zone in which the instant is written.
 */
function dateOf(text: string): string | undefined {
  const trimmed = text.trim();
  return parseDateTime(trimmed) === undefined ? undefined : trimmed.split(/[T ]/i)[0];
}

function timeOf(text: string): string | undefined {
  const trimmed = text.trim();
  const full = /^\d\d:\d\d$/.test(trimmed) ? `${trimmed}:00` : trimmed;
  return isTime(full) ? full : undefined;
}

function timePart(text: string): string | undefined {
  return parseDateTime(text) === undefined ? undefined : /\d\d:\d\d:\d\d(?:\.\d+)?/.exec(text)?.[0];
}

function wallClock(text: string): string | undefined {
  const found = parseDateTime(text.trim());
  return found === undefined || found.offset !== undefined ? undefined : isoText(text.trim(), found);
}

function withoutZone(text: string): string | undefined {
  return /^-?\d+-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?/.exec(text)?.[0];
}

function instant(text: string): string | undefined {
  const found = parseDateTime(text.trim());
  if (found?.offset === undefined) return undefined;
  return isoText(text.trim(), found) + zoneText(found.offset);
}

/** Formats a date and time in ISO 8601 format, with a `T`, with seconds, and with the original fraction of a second. */
function isoText(text: string, { seconds }: DateTime): string {
  const [date, ...rest] = text.split(/[T ]/i);
  const time = /^\d\d:\d\d(?::\d\d(?:\.\d+)?)?/.exec(rest.join(''))?.[0] ?? '00:00:00';
  return `${date}T${time.length === 5 ? `${time}:${String(seconds % 60).padStart(2, '0')}` : time}`;
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(offset);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${offset < 0 ? '-' : '+'}${hours}:${rest}`;
}

function validJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

function quoted(): From {
  const quote: Convert = (text) => JSON.stringify(text);
  return { uuid: quote, date: quote, time: quote, timestamp: quote, timestamptz: quote, binary: quote };
}

function uuid(text: string): string | undefined {
  const digits = text
    .trim()
    .toLowerCase()
    .replace(/^\{(.*)\}$/, '$1')
    .replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(digits)) return undefined;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
