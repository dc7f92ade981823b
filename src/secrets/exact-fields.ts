import { isMap } from '../lib/is-map.ts';

type Fields = { readonly [field: string]: unknown };

/** Numbers keep all their digits, because a password such as 12345678901234567890 must not be rounded. */
function exact(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value;
}

/** The fields of a JSON object, with numbers as strings; undefined if the text isn't a JSON object. */
export function exactFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text, exact);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
