/**
 * The types that a column can declare, each with its only canonical text. Every format writes this text (quoted or
 * escaped as needed), every driver delivers it, and every transform relies on it. Nothing between a source and the
 * payload may convert an exact value to a float.
 *
 * | type          | canonical text                                                                           |
 * |---------------|------------------------------------------------------------------------------------------|
 * | `text`        | the text itself                                                                          |
 * | `uuid`        | lower case, with hyphens                                                                 |
 * | `integer`     | `-?digits`, any length, no leading zeros                                                 |
 * | `decimal`     | `-?digits[.digits]`, scale kept (`1.50`), no exponent; or `NaN`, `Infinity`, `-Infinity` |
 * | `float`       | shortest text that reads back as the same number, exponent allowed; or the three above   |
 * | `boolean`     | `true`, `false`                                                                          |
 * | `date`        | `YYYY-MM-DD`                                                                             |
 * | `time`        | `HH:MM:SS[.fraction]`, with an offset if the source keeps one                            |
 * | `timestamp`   | `YYYY-MM-DDTHH:MM:SS[.fraction]`: wall-clock time, no zone                               |
 * | `timestamptz` | the same with `Z` or `±HH:MM`: an instant                                                |
 * | `json`        | one JSON value, as text (arrays and composites of a database too)                        |
 * | `binary`      | base64 with padding (RFC 4648 section 4)                                                 |
 */
export type ColumnType =
  | 'text'
  | 'uuid'
  | 'integer'
  | 'decimal'
  | 'float'
  | 'boolean'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'json'
  | 'binary';

/** All column types, in the order of {@link ColumnType}'s table. */
export const columnTypes: readonly ColumnType[] = [
  'text',
  'uuid',
  'integer',
  'decimal',
  'float',
  'boolean',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'json',
  'binary',
];

/** A column as the extract declares it. Names can be any string that is unique within a run. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** A column of a job's kept rows. */
export interface KeptColumn extends Column {
  /** Whether any row has had a value in this column. Until then, the column's type is unknown. */
  readonly seen: boolean;
}

const numberTypes: readonly ColumnType[] = ['integer', 'decimal', 'float'];

/** The type of a column that contains values of both types: the wider type of number, json, or text. */
export function commonType(a: ColumnType, b: ColumnType): ColumnType {
  if (a === b) return a;
  const [i, j] = [numberTypes.indexOf(a), numberTypes.indexOf(b)];
  if (i >= 0 && j >= 0) return numberTypes[Math.max(i, j)]!;
  return a === 'json' || b === 'json' ? 'json' : 'text';
}

/** Whether every canonical text of the type is a JSON value. */
export function isJsonType(type: ColumnType): boolean {
  return type === 'json' || type === 'boolean' || numberTypes.includes(type);
}

/** The line of a query that declares a column's type, for error messages. */
export function typesLine(name: string, type: ColumnType): string {
  return `\`types: {${JSON.stringify(name)}: ${type}}\``;
}
