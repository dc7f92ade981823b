import { type ColumnType, canonicalText, type SqliteValue, type Value } from '#sdk';

/** The canonical value, or undefined if the stored value isn't of this type. */
type Convert = (value: Exclude<SqliteValue, null>) => Value | undefined;

const timestamp = /^(\d{4,}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/;
const timestamptz = /^(\d{4,}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:\d\d)$/i;

const like =
  (shape: RegExp): Convert =>
  (value) =>
    typeof value === 'string' && shape.test(value) ? value : undefined;

const converters: Readonly<Record<ColumnType, Convert>> = {
  integer: (value) => (typeof value === 'bigint' ? value : undefined),
  float: (value) => (typeof value === 'number' || typeof value === 'bigint' ? value : undefined),
  decimal: (value) => {
    if (typeof value === 'bigint') return value;
    if (typeof value === 'number') return plainNumber(value);
    return like(/^-?\d+(\.\d+)?$/)(value);
  },
  boolean: (value) => (value === 0n ? false : value === 1n ? true : undefined),
  date: like(/^\d{4,}-\d\d-\d\d$/),
  time: like(/^\d\d:\d\d(:\d\d(\.\d+)?)?$/),
  timestamp: (value) => joined(value, timestamp),
  timestamptz: (value) => joined(value, timestamptz),
  uuid: (value) => {
    const text = like(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i)(value);
    return typeof text === 'string' ? text.toLowerCase() : undefined;
  },
  json: (value) => (typeof value === 'string' ? canonicalText(value, 'json') : undefined),
  text: (value) => (value instanceof Uint8Array ? undefined : String(value)),
  binary: (value) => (value instanceof Uint8Array ? value : undefined),
};

/** SQLite allows times without seconds, but canonical text always has seconds. */
function joined(value: Exclude<SqliteValue, null>, shape: RegExp): string | undefined {
  const match = typeof value === 'string' ? shape.exec(value) : null;
  if (match === null) return undefined;
  const [, day, clock, zone = ''] = match;
  return `${day}T${clock!.length === 5 ? `${clock}:00` : clock}${zone.toUpperCase()}`;
}

/** The shortest decimal digits that identify the number, without an exponent. */
function plainNumber(value: number): string {
  const [digits, exponent] = String(value).split('e');
  if (exponent === undefined) return digits!;
  const sign = value < 0 ? '-' : '';
  const [whole, fraction = ''] = digits!.replace('-', '').split('.') as [string, string?];
  const point = whole.length + Number(exponent);
  const all = whole + fraction;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${all}`;
  return `${sign}${all.padEnd(point, '0')}`;
}

/** Type of an undeclared column: the narrowest type that fits all values in the first rows. */
const anything: readonly ColumnType[] = ['integer', 'float', 'binary', 'text'];

/**
 * The candidate types for a declared type, best first. As in SQLite's affinity rules, substrings of the declared type's
 * name are matched. https://www.sqlite.org/datatype3.html#determination_of_column_affinity
 */
const declared: readonly (readonly [RegExp, readonly ColumnType[]])[] = [
  [/BOOL/, ['boolean', 'integer', 'text']],
  [/JSON/, ['json', 'text']],
  [/UUID|GUID/, ['uuid', 'text', 'binary']],
  [/DATETIME|TIMESTAMP/, ['timestamp', 'timestamptz', 'integer', 'float', 'text']],
  [/DATE/, ['date', 'timestamp', 'timestamptz', 'integer', 'float', 'text']],
  [/^TIME/, ['time', 'integer', 'float', 'text']],
  [/INT/, ['integer']],
  [/CHAR|CLOB|TEXT/, ['text']],
  [/BLOB|BINARY/, ['binary', 'text']],
  [/REAL|FLOA|DOUB/, ['float']],
  [/NUMERIC|DECIMAL|MONEY/, ['decimal', 'text']],
];

function candidatesFor(declaration: string | null): readonly ColumnType[] {
  const word = (declaration ?? '').toUpperCase();
  return declared.find(([pattern]) => pattern.test(word))?.[1] ?? anything;
}

/** A column's type: the first candidate that fits all values, or the last candidate if none of them fits. */
export function sqliteType(declaration: string | null, values: readonly SqliteValue[]): ColumnType {
  const candidates = candidatesFor(declaration);
  const fits = (type: ColumnType) => values.every((value) => value === null || converters[type](value) !== undefined);
  return candidates.find(fits) ?? candidates.at(-1)!;
}

/** Converts the value to the column's type. Returns undefined if the value isn't of that type. */
export function sqliteValue(type: ColumnType, value: SqliteValue): Value | undefined {
  return value === null ? null : converters[type](value);
}
