/** A number with the source's digits, if a JavaScript number would change them. */
interface RawNumber {
  readonly rawJSON: string;
}

/** Members of `JSON` that the type library does not know yet (ECMAScript proposal "JSON.parse source text access"). */
const exact = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Matches numbers whose digits a double may change: with a fraction, an exponent, or more than 15 digits. */
const delicate = /[-\d]\.\d|\d[eE]|\d{16}/;

/**
 * Parses JSON without changing the digits of numbers: numbers whose text would change (`1.50`, `12345678901234567890`) become raw
 * numbers, which {@link textOf} and `JSON.stringify` write unchanged.
 */
export function parseExact(text: string): unknown {
  if (!delicate.test(text)) return JSON.parse(text);
  return exact.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  );
}

/** The text of a value: numbers with their original digits, objects as JSON; undefined for undefined and null. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return exact.isRawJSON(value) ? value.rawJSON : JSON.stringify(value);
  return String(value);
}

/** Whether a value is an object with keys: not a list and not a raw number. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !exact.isRawJSON(value);
}
