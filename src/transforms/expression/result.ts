import { late } from '../../lib/late.ts';
import type { Value } from '../../sdk/batch.ts';
import type { ColumnType } from '../../sdk/column.ts';
import { Decimal } from '../values/decimal.ts';
import { CellFault } from './cell-fault.ts';
import { jsonText } from './json-value.ts';

const cel = late<typeof import('@marcbachmann/cel-js/evaluator')>(import.meta.url, '@marcbachmann/cel-js/evaluator');

const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** Returns the column type for a CEL type, or undefined if there is none. */
export function columnTypeOf(type: string): ColumnType | undefined {
  if (type.startsWith('list') || type.startsWith('map')) return 'json';
  return scalars[type];
}

const scalars: Readonly<Record<string, ColumnType>> = {
  string: 'text',
  int: 'integer',
  uint: 'integer',
  double: 'float',
  Decimal: 'decimal',
  bool: 'boolean',
  bytes: 'binary',
  'google.protobuf.Timestamp': 'timestamptz',
  'google.protobuf.Duration': 'text',
};

/** Returns the column type for a value whose type can't be determined before it's evaluated. */
export function columnTypeOfValue(value: unknown): ColumnType {
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'bigint':
      return 'integer';
    case 'number':
      return 'float';
    case 'boolean':
      return 'boolean';
    default:
      if (value instanceof Decimal) return 'decimal';
      if (value instanceof Date) return 'timestamptz';
      if (value instanceof cel().UnsignedInt) return 'integer';
      if (value instanceof cel().Duration) return 'text';
      return value instanceof Uint8Array ? 'binary' : 'json';
  }
}

/**
 * Converts a CEL value to a cell. Throws if an integer has more than 64 bits, if an instant is out of range, or if the
 * value can't be stored in a cell.
 */
export function cellOf(value: unknown): Value {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    case 'bigint':
      return wholeOf(value);
    default:
      return cellOfObject(value);
  }
}

function cellOfObject(value: unknown): Value {
  if (value === null || value instanceof Uint8Array) return value;
  if (value instanceof Decimal) return value.toString();
  if (value instanceof Date) return instantText(value);
  if (Array.isArray(value) || value instanceof Map || Object.getPrototypeOf(value) === Object.prototype)
    return jsonText(value);
  if (value instanceof cel().UnsignedInt) return wholeOf(value.valueOf());
  if (value instanceof cel().Duration) return value.toString();
  throw new CellFault('the result is not a valid cell value');
}

function wholeOf(value: bigint): bigint {
  if (value < int64.least || value > int64.most) throw new CellFault(`integer overflow: ${value}`);
  return value;
}

function instantText(value: Date): string {
  const year = value.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) throw new CellFault('the instant is outside the years 1 to 9999');
  return value.toISOString();
}
