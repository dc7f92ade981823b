/** A number that keeps the source's digits because a JavaScript number would change them. */
interface RawNumber {
  readonly rawJSON: string;
}

/**
 * Members of `JSON` that TypeScript's library doesn't declare yet (ECMAScript proposal "JSON.parse source text
 * access").
 */
const exact = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/**
 * Matches numbers whose digits a double may change, because they have a fraction, an exponent, or more than 15 digits.
 */
const delicate = /[-\d]\.\d|\d[eE]|\d{16}/;

/**
 * Parses JSON without changing any number's digits. Numbers whose digits would change (`1.50`, `12345678901234567890`)
 * become raw numbers, which {@link textOf} and `JSON.stringify` write unchanged.
 */
export function parseExact(text: string): unknown {
  if (!delicate.test(text)) return JSON.parse(text);
  return exact.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  );
}

/** A value as text: numbers keep their original digits, and objects become JSON. Undefined for undefined and null. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return exact.isRawJSON(value) ? value.rawJSON : JSON.stringify(value);
  return String(value);
}

/** Whether a value is an object with keys, rather than a list or a raw number. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !exact.isRawJSON(value);
}
