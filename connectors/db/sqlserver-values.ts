import type { ColumnType } from '#sdk';

/** A value's wire type: the driver's name for the type, and the scale. */
export interface TdsType {
  readonly name: string;
  readonly scale?: number | undefined;
}

const types: Readonly<Record<string, ColumnType>> = {
  Bit: 'boolean',
  BitN: 'boolean',
  TinyInt: 'integer',
  SmallInt: 'integer',
  Int: 'integer',
  BigInt: 'integer',
  IntN: 'integer',
  Real: 'float',
  Float: 'float',
  FloatN: 'float',
  SmallMoney: 'decimal',
  Money: 'decimal',
  MoneyN: 'decimal',
  NumericN: 'decimal',
  DecimalN: 'decimal',
  Date: 'date',
  Time: 'time',
  SmallDateTime: 'timestamp',
  DateTime: 'timestamp',
  DateTimeN: 'timestamp',
  DateTime2: 'timestamp',
  DateTimeOffset: 'timestamptz',
  UniqueIdentifier: 'uuid',
  Binary: 'binary',
  VarBinary: 'binary',
  Image: 'binary',
  UDT: 'binary',
};

/** A column's type. Values of unknown types are read as text. */
export function sqlserverType({ name }: TdsType): ColumnType {
  return types[name] ?? 'text';
}

/** The types whose values the driver converts to inexact JavaScript values. [MS-TDS] 2.2.5.5 */
const readers: Readonly<Record<string, (bytes: Buffer, scale: number) => string | number>> = {
  Real: (bytes) => single(bytes.readFloatLE()),
  FloatN: (bytes) => (bytes.length === 4 ? single(bytes.readFloatLE()) : bytes.readDoubleLE()),
  SmallMoney: money,
  Money: money,
  MoneyN: money,
  NumericN: numeric,
  DecimalN: numeric,
  Date: (bytes) => dayText(Number(number(bytes)), yearOne),
  Time: (bytes, scale) => clock(number(bytes), scale),
  DateTime2: (bytes, scale) => moment(bytes, scale),
  DateTimeOffset: withOffset,
  SmallDateTime: oldMoment,
  DateTime: oldMoment,
  DateTimeN: oldMoment,
};

/** Types whose values have no length prefix. */
const bare = new Set(['Real', 'SmallMoney', 'Money', 'SmallDateTime', 'DateTime']);

/** The exact value in a range of bytes; undefined if the driver's own value is exact. */
export function exactValue(
  { name, scale = 0 }: TdsType,
  { bytes, start, end }: { readonly bytes: Buffer; readonly start: number; readonly end: number },
): string | number | undefined {
  const read = readers[name];
  if (read === undefined) return undefined;
  return read(bytes.subarray(bare.has(name) ? start : start + 1, end), scale);
}

/** Little-endian integer. */
function number(bytes: Buffer): bigint {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]!);
  return value;
}

function decimalText(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const sign = value < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** A decimal: a sign byte, then all digits as one integer. */
function numeric(bytes: Buffer, scale: number): string {
  const value = number(bytes.subarray(1));
  return decimalText(bytes[0] === 1 ? value : -value, scale);
}

/** A money value: an integer that counts ten-thousandths. In eight-byte values, the upper half comes first. */
function money(bytes: Buffer): string {
  const value =
    bytes.length === 4
      ? BigInt(bytes.readInt32LE())
      : (BigInt(bytes.readInt32LE()) << 32n) | BigInt(bytes.readUInt32LE(4));
  return decimalText(value, 4);
}

/** The shortest decimal digits that identify the single-precision number. */
function single(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

const two = (value: number) => String(value).padStart(2, '0');

/** The time of day in units of 10^-scale seconds since midnight. */
function clock(units: bigint, scale: number): string {
  const second = 10n ** BigInt(scale);
  const seconds = Number(units / second);
  const fraction = scale === 0 ? '' : `.${String(units % second).padStart(scale, '0')}`;
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction}`;
}

const dayMs = 86_400_000;

function dayText(days: number, since: number): string {
  return new Date(since + days * dayMs).toISOString().slice(0, 10);
}

const yearOne = Date.parse('0001-01-01T00:00:00Z');
const year1900 = Date.parse('1900-01-01T00:00:00Z');

/** The time of day, followed by three bytes with the number of days since the year one. */
function moment(bytes: Buffer, scale: number): string {
  const at = bytes.length - 3;
  return `${dayText(Number(number(bytes.subarray(at))), yearOne)}T${clock(number(bytes.subarray(0, at)), scale)}`;
}

/** Reads an instant in UTC, followed by the offset in minutes. Returns the local time with its offset. */
function withOffset(bytes: Buffer, scale: number): string {
  const at = bytes.length - 2;
  const minutes = bytes.readInt16LE(at);
  const utc = moment(bytes.subarray(0, at), scale);
  if (minutes === 0) return `${utc}Z`;
  const local = new Date(Date.parse(`${utc.slice(0, 19)}Z`) + minutes * 60_000).toISOString().slice(0, 19);
  const size = Math.abs(minutes);
  return `${local}${utc.slice(19)}${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/**
 * Reads the days since 1900, followed by minutes or three-hundredths of a second. The server displays three-hundredths
 * rounded to milliseconds.
 */
function oldMoment(bytes: Buffer): string {
  if (bytes.length === 4) {
    return `${dayText(bytes.readUInt16LE(), year1900)}T${clock(BigInt(bytes.readUInt16LE(2) * 60), 0)}`;
  }
  const thousandths = Math.round((bytes.readUInt32LE(4) * 10) / 3);
  return `${dayText(bytes.readInt32LE(), year1900)}T${clock(BigInt(thousandths), 3)}`;
}
