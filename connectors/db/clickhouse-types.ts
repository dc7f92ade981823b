import { type ColumnType, Problem } from '#sdk';
import type { CellType, WireColumn } from './cells.ts';

/** Wrappers of a type, whose values look like those of the type: `Nullable(Int64)`. */
const wrapper = /^(?:Nullable|LowCardinality|SimpleAggregateFunction)\((?:\w+(?:\([^)]*\))?, (?=\S))?(.*)\)$/s;

/** By the beginning of the type's name. Types that aren't listed are text. https://clickhouse.com/docs/sql-reference/data-types */
const types: readonly (readonly [RegExp, ColumnType])[] = [
  [/^(?:U?Int\d+|Interval)/, 'integer'],
  [/^(?:B?Float\d+)/, 'float'],
  [/^Decimal/, 'decimal'],
  [/^Bool$/, 'boolean'],
  [/^DateTime/, 'timestamptz'],
  [/^Date/, 'date'],
  [/^Time/, 'time'],
  [/^UUID$/, 'uuid'],
  [
    /^(?:Array|Tuple|Map|Nested|JSON|Object|Variant|Dynamic|Point|Ring|LineString|MultiLineString|Polygon|MultiPolygon|QBit)\b/,
    'json',
  ],
];

/** The column type of a ClickHouse type. Throws a Problem for the state of an aggregate function, which isn't a value. */
export function clickhouseType(name: string, column: string): CellType {
  const inner = wrapper.exec(name)?.[1];
  if (inner !== undefined) return clickhouseType(inner, column);
  if (name.startsWith('AggregateFunction')) throw aggregateState(column, name);
  const [, type = 'text'] = types.find(([pattern]) => pattern.test(name)) ?? [];
  return name.startsWith('FixedString') ? { type, fix: { how: 'rewrite', text: withoutPadding } } : { type };
}

/** The server fills texts of a fixed length with NUL. */
function withoutPadding(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end).replace(/\0+$/, '');
}

/** The column for rows in which a float may be `nan` or `inf`. */
export function withDenormals(wire: WireColumn): WireColumn {
  if (wire.column.type !== 'float') return wire;
  return {
    ...wire,
    fix: { how: 'rewrite', text: (bytes, start, end) => floatText(bytes.toString('latin1', start, end)) },
  };
}

const floatText = (text: string) => text.replace('nan', 'NaN').replace('inf', 'Infinity');

function aggregateState(column: string, type: string): Problem {
  return new Problem({
    code: 'DB_VALUE_TYPE',
    family: 'job',
    message: `column ${JSON.stringify(column)} has the state of an aggregate function, which is not a value`,
    where: { column },
    seen: type,
    next: `finish it in the query: finalizeAggregation(${column}) as ${column}`,
  });
}
