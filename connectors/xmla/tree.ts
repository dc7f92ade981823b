import { parseExact } from '#sdk';

/** An element of the response, with its children by name and its attributes as `@name`. */
export type Node = Readonly<Record<string, unknown>>;

/** The children with this name. The tree stores a single child as an object, and several children as a list. */
export function partsOf(node: unknown, name: string): readonly unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  const found = (node as Node)[name];
  return found === undefined ? [] : [found].flat();
}

/** The only child with this name; undefined if there is no such child. */
export function partOf(node: unknown, ...names: readonly string[]): unknown {
  let at: unknown = node;
  for (const name of names) at = partsOf(at, name)[0];
  return at;
}

const numeric = /^(?:double|float|decimal|integer|int|long|short|byte|unsigned\w+|nonNegativeInteger)$/;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * An element's value, converted by its declared type or its own `xsi:type`. Numbers keep their digits, NaN and infinity
 * become null, and values of all other types become text.
 */
export function valueIn(element: unknown, declared?: string): unknown {
  if (element === undefined || element === null) return null;
  const { '@type': own, '#text': inner } = typeof element === 'object' ? (element as Node) : { '#text': element };
  const text = String(inner ?? '');
  const type = String(own ?? declared ?? '').replace(/^.*:/, '');
  if (numeric.test(type)) return number.test(text.trim()) ? parseExact(text.trim()) : null;
  if (type === 'boolean') return text.trim() === 'true' || text.trim() === '1';
  return text;
}
