import { Decimal } from '../values/decimal.ts';
import { CellFault } from './cell-fault.ts';

/** The third argument that `JSON.parse` passes to a reviver (ECMAScript 2026). */
interface Source {
  readonly source?: string;
}

const int64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/**
 * Parses JSON to values of the language. Integers become ints and numbers with a decimal point become decimals, so they
 * keep all their digits; numbers with an exponent become floats. Objects become Maps, so that keys in the data, such as
 * `constructor` or `__proto__`, never become properties of an object.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key: string, value: unknown, context?: Source) => {
      if (typeof value === 'number') return numberOf(value, context?.source ?? String(value));
      return isObject(value) ? new Map(Object.entries(value)) : value;
    });
  } catch {
    throw new CellFault('the cell is not valid JSON');
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function numberOf(value: number, source: string): unknown {
  if (/[eE]/.test(source)) return value;
  if (source.includes('.')) return Decimal.parse(source) ?? value;
  const whole = BigInt(source);
  return whole >= int64.least && whole <= int64.most ? whole : Decimal.ofInteger(whole);
}

/** Writes a value of the language, such as a list or a map, as JSON. */
export function jsonText(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'bigint' || value instanceof Decimal) return String(value);
  if (typeof value === 'number') return numberText(value);
  if (value instanceof Date) return JSON.stringify(value.toISOString());
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (value instanceof Map) return objectText([...value]);
  if (isObject(value)) return objectText(Object.entries(value));
  throw new CellFault('the result cannot be written as JSON');
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new CellFault(`JSON has no ${value}`);
  return Object.is(value, -0) ? '0' : String(value);
}

function objectText(entries: readonly (readonly [unknown, unknown])[]): string {
  return `{${entries.map(([key, value]) => `${JSON.stringify(String(key))}:${jsonText(value)}`).join(',')}}`;
}
