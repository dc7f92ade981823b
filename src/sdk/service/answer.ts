import type { Place } from '../places/place.ts';
import { placeValue } from '../places/place-value.ts';
import { parseExact } from './exact-json.ts';
import { type ValuePath, valueAt, valuesAt } from './path.ts';

/** A response from the service, read and parsed as far as possible. */
export interface ServiceAnswer {
  readonly url: URL;
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The value of a JSON response or the tree of an XML response; undefined for other formats. */
  readonly body: unknown;
  /** The response text, or its beginning. */
  readonly text: string;
}

/**
 * A location in a response: a path in the body, a header, a path in the last record of a page, or a place that a user has
 * written. If the header contains JSON, `at` is a path in that JSON.
 */
export type AnswerPath =
  | ValuePath
  | { readonly header: string; readonly at?: ValuePath }
  | { readonly last_record: ValuePath }
  | { readonly place: Place };

/** The parts of a response that contain values. */
type ValueParts = Pick<ServiceAnswer, 'headers' | 'body'> & { readonly last?: unknown };

/** The value at the location; undefined if there is none. */
export function pick(answer: ValueParts, where: AnswerPath): unknown {
  if (typeof where === 'object' && 'place' in where) return placeValue(where.place, answer);
  return placed(answer, where, valueAt);
}

/** All values at the location. There may be several if its path goes through lists. */
export function pickAll(answer: ValueParts, where: AnswerPath): readonly unknown[] {
  if (typeof where === 'object' && 'place' in where) return [pick(answer, where)].filter((one) => one !== undefined);
  return placed(answer, where, valuesAt) ?? [];
}

function placed<T>(answer: ValueParts, where: AnswerPath, look: (root: unknown, path: ValuePath) => T): T | undefined {
  if (typeof where === 'string' || Array.isArray(where)) return look(answer.body, where);
  if ('last_record' in where) return look(answer.last, where.last_record as ValuePath);
  const { header, at } = where as Extract<AnswerPath, { header: string }>;
  const text = answer.headers[header.toLowerCase()];
  return text === undefined ? undefined : look(at === undefined ? text : parsed(text), at ?? '');
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
