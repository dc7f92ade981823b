import { badRequest } from './api-error.ts';

/** Matches every text with such a value, and few others. Reading the values one by one takes five times as long. */
const suspicious = /__proto__|\\u|[\d.]{16}|\d[eE][+-]?\d{3}/;

/**
 * Throws an ApiError (400) if a JSON text has a value that couldn't be stored and returned as it is: a member named
 * `__proto__`, which would be lost or change an object, half of a surrogate pair, which UTF-8 doesn't have, and a number
 * whose digits exceed those of a double.
 */
export function refuseUnstorable(json: string): void {
  if (!suspicious.test(json)) return;
  JSON.parse(json, (key: string, value: unknown, context?: NumberSource) => {
    if (key === '__proto__') throw badRequest('A member named "__proto__" is not supported');
    if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) {
      throw badRequest(`Field "${key.toWellFormed()}" is not valid Unicode: it has half of a surrogate pair`);
    }
    const source = context?.source;
    if (typeof value === 'number' && source !== undefined && !isExact(value, source)) {
      throw badRequest(`Field "${key}" is a number that can't be stored exactly; send it as a string`);
    }
    return value;
  });
}

/** The third argument that `JSON.parse` passes to a reviver (ECMAScript 2026). */
interface NumberSource {
  readonly source?: string;
}

/**
 * Whether the text is how a program prints this double: in its shortest form, or with 17 significant digits, as C's
 * `%.17g` and PHP's `serialize_precision = 17` do.
 */
function isExact(value: number, source: string): boolean {
  const forms = [String(value), value.toPrecision(17)];
  return Number.isFinite(value) && forms.some((form) => canonical(form) === canonical(source));
}

/** Writes a decimal number as its digits, without zeros at either end, and the power of ten of the last digit. */
function canonical(number: string): string {
  const [, whole, fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number)!;
  const digits = (whole! + fraction).replace(/^0+/, '');
  // A regular expression would take quadratic time for a number with many zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end === 0 ? '0' : `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
