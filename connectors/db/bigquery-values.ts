import type { Column, ColumnType, Value } from '#sdk';
import { brokenProtocol } from './broken-protocol.ts';
import { floatOf } from './float-text.ts';

/** A column in the schema of a result, or a field of a struct. https://cloud.google.com/bigquery/docs/reference/rest/v2/tables#TableFieldSchema */
export interface BigqueryField {
  readonly name: string;
  readonly type: string;
  readonly mode?: string;
  /** Of a timestamp: 12, if it has picoseconds. */
  readonly timestampPrecision?: string | number;
  readonly fields?: readonly BigqueryField[];
}

/** A cell in a response: a text for every type, the items of an array, or the cells of a struct. */
export interface BigqueryCell {
  readonly v: string | null | readonly BigqueryCell[] | BigqueryRow;
}

/** A row in a response, or a struct. */
export interface BigqueryRow {
  readonly f: readonly BigqueryCell[];
}

/** By the names of legacy SQL, which responses have, and those of GoogleSQL. Types that aren't listed are text. */
const types: Readonly<Record<string, ColumnType>> = {
  INTEGER: 'integer',
  INT64: 'integer',
  FLOAT: 'float',
  FLOAT64: 'float',
  NUMERIC: 'decimal',
  BIGNUMERIC: 'decimal',
  BOOLEAN: 'boolean',
  BOOL: 'boolean',
  BYTES: 'binary',
  DATE: 'date',
  TIME: 'time',
  DATETIME: 'timestamp',
  TIMESTAMP: 'timestamptz',
  JSON: 'json',
  RECORD: 'json',
  STRUCT: 'json',
};

/** The column of a result's field. Arrays and structs are JSON. */
export function bigqueryColumn({ name, type, mode }: BigqueryField): Column {
  return { name, type: mode === 'REPEATED' ? 'json' : typeOf(type) };
}

const typeOf = (type: string): ColumnType => types[type] ?? 'text';

/**
 * How a request asks for instants, so that they keep all digits. By default, they are floats. Not all services know the
 * second format.
 */
export function instantFormat(fields: readonly BigqueryField[]): Readonly<Record<string, string>> {
  const key = fields.some(hasPicoseconds) ? 'timestampOutputFormat' : 'useInt64Timestamp';
  return { [`formatOptions.${key}`]: key === 'useInt64Timestamp' ? 'true' : 'ISO8601_STRING' };
}

function hasPicoseconds({ timestampPrecision, fields = [] }: BigqueryField): boolean {
  return Number(timestampPrecision ?? 0) > 6 || fields.some(hasPicoseconds);
}

/** A cell as a value. */
export function bigqueryValue(field: BigqueryField, { v }: BigqueryCell): Value {
  if (v === null) return null;
  if (typeof v !== 'string') return jsonText(field, v);
  const type = typeOf(field.type);
  if (type === 'float') return floatOf(v);
  if (type === 'timestamptz') return instantText(v);
  return v;
}

/** An array or a struct as JSON text. */
function jsonText(field: BigqueryField, value: NonNullable<BigqueryCell['v']>): string {
  if (Array.isArray(value)) {
    const item = { ...field, mode: 'NULLABLE' };
    return `[${value.map((cell: BigqueryCell) => itemText(item, cell)).join(',')}]`;
  }
  if (typeof value === 'string') return scalarText(field, value);
  const { fields = [] } = field;
  const members = (value as BigqueryRow).f.map((cell, i) => {
    const member = fields[i]!;
    return `${JSON.stringify(member.name)}:${itemText(member, cell)}`;
  });
  return `{${members.join(',')}}`;
}

const itemText = (field: BigqueryField, { v }: BigqueryCell): string => (v === null ? 'null' : jsonText(field, v));

/** A number keeps its digits. JSON has no infinite numbers, so they are text. */
function scalarText(field: BigqueryField, text: string): string {
  const type = typeOf(field.type);
  if (type === 'json' || type === 'boolean') return text;
  const isNumber = type === 'integer' || type === 'decimal' || (type === 'float' && Number.isFinite(floatOf(text)));
  if (isNumber) return type === 'float' ? String(floatOf(text)) : text;
  return JSON.stringify(type === 'timestamptz' ? instantText(text) : text);
}

const second = 1_000_000n;

/** An instant from the microseconds since 1970, or from a text in ISO 8601. */
function instantText(text: string): string {
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return text;
  if (!/^-?\d+$/.test(text)) throw brokenProtocol('an instant that cannot be read', text);
  const microseconds = BigInt(text);
  const fraction = ((microseconds % second) + second) % second;
  const seconds = new Date(Number((microseconds - fraction) / 1000n)).toISOString().slice(0, 19);
  return fraction === 0n ? `${seconds}Z` : `${seconds}.${String(fraction).padStart(6, '0')}Z`;
}
