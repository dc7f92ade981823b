import type { ColumnType, Value } from '#sdk';
import type { DuckdbType } from './duckdb-api.ts';

/** A value that the package returns as an object with its text, and sometimes with its parts. */
interface Scalar {
  readonly bytes?: Uint8Array;
  readonly isFinite?: boolean;
  toString(): string;
}

/** A span of time. Its parts are independent: a month has no fixed number of days, nor a day of hours. */
interface Interval {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;
}

/** How values of a type become values of a column. */
interface ValueRule {
  readonly type: ColumnType;
  /** Absent if the value needn't be converted. Null isn't converted. */
  readonly convert?: (value: never) => Value;
}

const integer: ValueRule = { type: 'integer' };
const text: ValueRule = { type: 'text', convert: String };
const date: ValueRule = { type: 'date', convert: momentText };
const time: ValueRule = { type: 'time', convert: String };
const timestamp: ValueRule = { type: 'timestamp', convert: momentText };

/** The numbers of types in DuckDB's C interface (`duckdb_type`). https://duckdb.org/docs/stable/clients/c/api */
const id = {
  boolean: 1,
  float: 10,
  double: 11,
  timestamp: 12,
  date: 13,
  time: 14,
  interval: 15,
  blob: 18,
  decimal: 19,
  timestampSeconds: 20,
  timestampMilliseconds: 21,
  timestampNanoseconds: 22,
  list: 24,
  struct: 25,
  map: 26,
  uuid: 27,
  union: 28,
  timeTz: 30,
  timestampTz: 31,
  array: 33,
  timeNanoseconds: 39,
  geometry: 40,
  variant: 41,
} as const;
/** From `tinyint` to `ubigint`, `hugeint`, `uhugeint` and `bignum`. */
const integers = [2, 3, 4, 5, 6, 7, 8, 9, 16, 32, 35];

/** By the type's number. Types that aren't listed are text. */
const rules: ReadonlyMap<number, ValueRule> = new Map<number, ValueRule>([
  [id.boolean, { type: 'boolean' }],
  ...integers.map((one) => [one, integer] as const),
  [id.float, { type: 'float', convert: shortestFloat32 }],
  [id.double, { type: 'float' }],
  [id.timestamp, timestamp],
  [id.timestampSeconds, timestamp],
  [id.timestampMilliseconds, timestamp],
  [id.timestampNanoseconds, timestamp],
  [id.date, date],
  [id.time, time],
  [id.timeNanoseconds, time],
  [id.timeTz, { type: 'text', convert: (value: Scalar) => String(value).replace(/([+-]\d\d)$/, '$1:00') }],
  [id.timestampTz, { type: 'timestamptz', convert: (value: Scalar) => momentText(value).replace(/\+00$/, 'Z') }],
  [id.blob, { type: 'binary', convert: (value: Scalar) => value.bytes! }],
  [id.geometry, { type: 'binary', convert: (value: Scalar) => value.bytes! }],
  [id.decimal, { type: 'decimal', convert: String }],
  [id.uuid, { type: 'uuid', convert: String }],
  [id.interval, { type: 'text', convert: durationText }],
]);

/** Types whose values have several parts. */
const nested: ReadonlySet<number> = new Set([id.list, id.struct, id.map, id.array, id.union, id.variant]);

/** The column type of a DuckDB type. */
export function duckdbType(type: DuckdbType): ColumnType {
  return ruleOf(type).type;
}

/** Converts a column's values, in the order of the rows. */
export function duckdbValues(type: DuckdbType, values: readonly unknown[]): readonly Value[] {
  const { convert } = ruleOf(type);
  if (convert === undefined) return values as Value[];
  return values.map((value) => (value === null ? null : convert(value as never)));
}

function ruleOf(type: DuckdbType): ValueRule {
  if (nested.has(type.typeId)) return { type: 'json', convert: (value: unknown) => jsonOf(value, type) };
  if (type.alias === 'JSON') return { type: 'json' };
  return rules.get(type.typeId) ?? text;
}

/** `2024-01-01T00:00:00`. Infinite values and years BC are written as PostgreSQL does: `infinity`, `0044-03-15 BC`. */
function momentText(value: Scalar): string {
  // The package writes some infinite values as finite ones. Their only member is the distance from 1970 in the type's
  // unit.
  if (value.isFinite === false) return Object.values(value).some((distance) => distance < 0) ? '-infinity' : 'infinity';
  const written = String(value);
  return written.includes(' (BC)') ? `${written.replace(' (BC)', '')} BC` : written.replace(' ', 'T');
}

/** A duration of ISO 8601 with a sign at each part, as PostgreSQL writes it: `P1Y2M3DT-4H-5.5S`. */
function durationText({ months, days, micros }: Interval): string {
  const part = (amount: number | bigint | string, unit: string) => (Number(amount) === 0 ? '' : `${amount}${unit}`);
  const day = part(Math.trunc(months / 12), 'Y') + part(months % 12, 'M') + part(days, 'D');
  const [minutes, rest] = [micros / 60_000_000n, micros % 60_000_000n];
  const clock = part(minutes / 60n, 'H') + part(minutes % 60n, 'M') + part(secondsText(rest), 'S');
  return day === '' && clock === '' ? 'PT0S' : `P${day}${clock === '' ? '' : `T${clock}`}`;
}

function secondsText(micros: bigint): string {
  const digits = String(micros < 0n ? -micros : micros).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The number with the fewest digits that has the same four bytes. */
function shortestFloat32(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
}

/** A value with all its parts as JSON. */
function jsonOf(value: unknown, type: DuckdbType | undefined): string {
  if (value === null || value === undefined) return 'null';
  const parts = value as {
    readonly items?: readonly unknown[];
    readonly entries?:
      | Readonly<Record<string, unknown>>
      | readonly { readonly key: unknown; readonly value: unknown }[];
    readonly tag?: string;
    readonly value?: unknown;
    readonly type?: DuckdbType;
  };
  switch (type?.typeId) {
    case id.list:
    case id.array:
      return `[${parts.items!.map((item) => jsonOf(item, type.valueType)).join(',')}]`;
    case id.struct:
      return structJson(parts.entries as Readonly<Record<string, unknown>>, type);
    case id.map:
      return mapJson(parts.entries as readonly { readonly key: unknown; readonly value: unknown }[], type);
    case id.union:
      return jsonOf(parts.value, type.memberTypes?.[type.memberTags?.indexOf(parts.tag!) ?? -1]);
    case id.variant:
      return jsonOf(parts.value, parts.type);
    default:
      return scalarJson(value, type);
  }
}

function structJson(entries: Readonly<Record<string, unknown>>, { entryNames = [], entryTypes = [] }: DuckdbType) {
  const members = entryNames.map((name, i) => `${JSON.stringify(name)}:${jsonOf(entries[name], entryTypes[i])}`);
  return `{${members.join(',')}}`;
}

/** The keys become texts, as in DuckDB's own JSON. */
function mapJson(entries: readonly { readonly key: unknown; readonly value: unknown }[], type: DuckdbType): string {
  const members = entries.map(({ key, value }) => {
    const name = jsonOf(key, type.keyType);
    return `${name.startsWith('"') ? name : JSON.stringify(name)}:${jsonOf(value, type.valueType)}`;
  });
  return `{${members.join(',')}}`;
}

function scalarJson(value: unknown, type: DuckdbType | undefined): string {
  const rule = type === undefined ? text : ruleOf(type);
  const converted = rule.convert === undefined ? (value as Value) : rule.convert(value as never);
  if (rule.type === 'json' || rule.type === 'decimal' || rule.type === 'integer') return String(converted);
  if (typeof converted === 'boolean') return String(converted);
  if (typeof converted === 'number' && Number.isFinite(converted)) return JSON.stringify(converted);
  if (converted instanceof Uint8Array) return JSON.stringify(Buffer.from(converted).toString('base64'));
  return JSON.stringify(String(converted));
}
