import type { ColumnType } from '../column.ts';

/**
 * The canonical text of a value written by a person or another program; undefined if it isn't a value of the type. See
 * {@link ColumnType} for the canonical forms. Ignores surrounding spaces, except for text and json.
 */
export function canonicalText(text: string, type: ColumnType): string | undefined {
  return type === 'text' || type === 'json' ? rules[type](text) : rules[type](text.trim());
}

const rules: Record<ColumnType, (text: string) => string | undefined> = {
  text: (text) => text,
  uuid: (text) => (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text) ? text.toLowerCase() : undefined),
  integer: (text) => {
    const decimal = decimalOf(text);
    return decimal !== undefined && /^-?\d+(\.0+)?$/.test(decimal) ? unsignedZero(decimal.split('.')[0]!) : undefined;
  },
  decimal: (text) => notANumber.get(text.toLowerCase()) ?? decimalOf(text),
  float: (text) => notANumber.get(text.toLowerCase()) ?? floatOf(text),
  boolean: (text) => words.get(text.toLowerCase()),
  date: dateOf,
  time: timeOf,
  timestamp: (text) => timestampOf(text, /^$/),
  timestamptz: (text) => timestampOf(text, /^(?:Z|[+-]\d\d(?::?\d\d)?)$/i),
  json: (text) => (isJson(text) ? text : undefined),
  binary: (text) => (/^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(text) ? text : undefined),
};

const words = new Map<string, string>([
  ...['true', 't', 'yes', 'y', 'on', '1'].map((word) => [word, 'true'] as const),
  ...['false', 'f', 'no', 'n', 'off', '0'].map((word) => [word, 'false'] as const),
]);

const notANumber = new Map([
  ['nan', 'NaN'],
  ['infinity', 'Infinity'],
  ['+infinity', 'Infinity'],
  ['-infinity', '-Infinity'],
]);

const number = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,4}))?$/i;

/** The conversion is exact: an exponent moves the decimal point, by up to a thousand places. */
function decimalOf(text: string): string | undefined {
  const match = number.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  if (Math.abs(Number(exponent)) > 1000) return undefined;
  return (sign === '-' ? '-' : '') + moved(whole, fraction, Number(exponent));
}

function moved(whole: string, fraction: string, places: number): string {
  const left = places >= 0 ? whole + fraction.slice(0, places).padEnd(places, '0') : whole.slice(0, places);
  const right = places >= 0 ? fraction.slice(places) : whole.padStart(-places, '0').slice(places) + fraction;
  const digits = left.replace(/^0+(?=\d)/, '') || '0';
  return right === '' ? digits : `${digits}.${right}`;
}

function unsignedZero(digits: string): string {
  return digits === '-0' ? '0' : digits;
}

function floatOf(text: string): string | undefined {
  const value = Number(text);
  if (text === '' || !/^[+-]?(?:\d|\.\d)[\d.e+-]*$/i.test(text) || !Number.isFinite(value)) return undefined;
  return Object.is(value, -0) ? '-0' : String(value);
}

function dateOf(text: string): string | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) ? text : undefined;
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return leap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

const clock = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)([.,]\d+)?)?(.*)$/;

function timeOf(text: string): string | undefined {
  return clockOf(text, /^(?:Z|[+-]\d\d(?::?\d\d)?)?$/i);
}

function clockOf(text: string, zone: RegExp): string | undefined {
  const match = clock.exec(text);
  if (match === null) return undefined;
  const [, hour, minute, second = '00', fraction = '', offset = ''] = match;
  if (!zone.test(offset.trim())) return undefined;
  return `${hour}:${minute}:${second}${fraction.replace(',', '.')}${offsetOf(offset.trim())}`;
}

function offsetOf(text: string): string {
  if (text === '' || text.toUpperCase() === 'Z') return text.toUpperCase();
  const digits = text.slice(1).replace(':', '').padEnd(4, '0');
  return `${text[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/**
 * `2026-01-31T08:00:00Z`, or with a space instead of the T, or without seconds. A time zone is either required or
 * refused, but never dropped.
 */
function timestampOf(text: string, zone: RegExp): string | undefined {
  const date = dateOf(text.slice(0, 10));
  if (date === undefined || !/^[T ]/i.test(text.slice(10))) return undefined;
  const time = clockOf(text.slice(11), zone);
  return time === undefined ? undefined : `${date}T${time}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
