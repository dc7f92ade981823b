import { isObject, textOf } from '#sdk';

/** A list of objects found in a response. */
interface RecordList {
  /** The list's path, in the format of the `records` option; empty if the response itself is the list. */
  readonly path: string;
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

const maxDepth = 4;

/** The response's lists of objects, longest first. Lists inside another list are excluded. */
export function listsIn(document: unknown): RecordList[] {
  return listsUnder(document, []).toSorted((a, b) => b.items.length - a.items.length);
}

function listsUnder(value: unknown, steps: readonly string[]): RecordList[] {
  if (Array.isArray(value)) {
    return value.length > 0 && value.every(isObject) ? [{ path: steps.join('.'), items: value }] : [];
  }
  if (!isObject(value) || steps.length >= maxDepth) return [];
  return Object.entries(value)
    .filter(([key]) => key !== '' && !key.includes('.'))
    .flatMap(([key, inner]) => listsUnder(inner, [...steps, key]));
}

const keyNames = [/^_?id$/i, /^(?:uuid|guid|key)$/i, /(?:^|[_-])(?:id|uuid|key|code|number|sku|no)$|[a-z]Id$/i];

/** The field that probably identifies a record. It has a typical ID name, and its value is unique in each record. */
export function keyIn(records: readonly unknown[]): string | undefined {
  const objects = records.filter(isObject);
  if (objects.length < 2) return undefined;
  const names = Object.keys(objects[0]!);
  const likely = keyNames.flatMap((pattern) => names.filter((name) => pattern.test(name)));
  return likely.find((name) => {
    const values = objects.map((record) => (isObject(record[name]) ? undefined : textOf(record[name])));
    return !values.includes(undefined) && new Set(values).size === values.length;
  });
}
