/** A number as its digits stand in the source, where a JavaScript number would write it differently. */
interface RawNumber {
  readonly rawJSON: string;
}

/** Members of `JSON` that the type library does not know yet (ECMAScript proposal "JSON.parse source text access"). */
const exact = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** What may be a number that a double cannot hold with its digits: a fraction, an exponent, or more than 15 digits. */
const delicate = /[-\d]\.\d|\d[eE]|\d{16}/;

/**
 * JSON as a JavaScript value in which every number still has the digits that the source wrote: numbers whose text would
 * change (`1.50`, `12345678901234567890`) are raw numbers, which {@link textOf} and `JSON.stringify` write as they came.
 */
export function parseExact(text: string): unknown {
  if (!delicate.test(text)) return JSON.parse(text);
  return exact.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  );
}

/** The text of a value: digits as they came, objects as JSON; undefined for what is absent or null. */
export function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return exact.isRawJSON(value) ? value.rawJSON : JSON.stringify(value);
  return String(value);
}

/** Whether a value is an object with keys, and neither a list nor a raw number. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !exact.isRawJSON(value);
}
