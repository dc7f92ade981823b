import { isObject, textOf } from '#sdk';

type JsonObject = Readonly<Record<string, unknown>>;

/** Records found in a response: the items of a list, or the members of an object. */
export interface RecordList {
  /** The records' path, in the format of the `records` option; empty if the response itself is the list. */
  readonly path: string;
  readonly items: readonly JsonObject[];
  /** Whether the records are the members of an object, so that their names may identify them. */
  readonly isMap: boolean;
}

const maxDepth = 6;

/**
 * The response's lists of objects, longest first, and then its objects whose members all look like records. Lists inside
 * another list are excluded.
 */
export function listsIn(document: unknown): RecordList[] {
  const found = listsUnder(document, []);
  return found.toSorted((a, b) => Number(a.isMap) - Number(b.isMap) || b.items.length - a.items.length);
}

function listsUnder(value: unknown, steps: readonly string[]): RecordList[] {
  if (Array.isArray(value)) {
    const isList = value.length > 0 && value.every((one) => isObject(one) && !isLink(one));
    return isList ? [{ path: pathText(steps), items: value, isMap: false }] : [];
  }
  if (!isObject(value) || steps.length >= maxDepth) return [];
  const members = Object.values(value);
  if (isMapOfRecords(members)) {
    const path = pathText(steps);
    return [{ path: path === '' ? '*' : `${path}.*`, items: members, isMap: true }];
  }
  return Object.entries(value).flatMap(([key, inner]) => listsUnder(inner, [...steps, key]));
}

/** Paths of the lists of lists in a response's objects, such as the rows of a table whose columns have names elsewhere. */
export function cellListsIn(value: unknown, steps: readonly string[] = []): string[] {
  if (!isObject(value) || steps.length >= maxDepth) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const inside = [...steps, key];
    const isTable = Array.isArray(inner) && inner.length > 0 && inner.every(Array.isArray);
    return isTable ? [pathText(inside)] : cellListsIn(inner, inside);
  });
}

/** Names of a link's relation, as in HAL, STAC, OGC APIs, FHIR and Atom. */
export const relations = ['rel', 'relation', '@rel'];

/** Whether an object is a link, such as the links to other pages. */
function isLink(item: JsonObject): boolean {
  return relations.some((name) => name in item) && ['href', 'url', '@href'].some((name) => name in item);
}

/** Whether the members have the same keys. The members of other objects, such as `data` and `links`, don't. */
function isMapOfRecords(members: readonly unknown[]): members is JsonObject[] {
  const [first, ...others] = members.map((one) => (isObject(one) ? Object.keys(one).toSorted().join('\n') : ''));
  return first !== undefined && first !== '' && others.length > 0 && others.every((keys) => keys === first);
}

/** A path for the options that consists of these names. */
export function pathText(names: readonly string[]): string {
  return names.reduce((path, name) => {
    if (/^[^.[\]()'"*$\\]+$/.test(name)) return path === '' ? name : `${path}.${name}`;
    return `${path === '' ? '$' : path}['${name.replaceAll(/['\\]/g, '\\$&')}']`;
  }, '');
}

const keyNames = [/^_?id$/i, /^(?:uuid|guid|key)$/i, /(?:^|[_-])(?:id|uuid|key|code|number|sku|no)$|[a-z]Id$/i];

/** The field that probably identifies a record. It has a typical ID name, and its value is unique in each record. */
export function keyIn(records: readonly unknown[]): string | undefined {
  const objects = records.filter(isObject);
  if (objects.length < 2) return undefined;
  const names = Object.keys(objects[0]!);
  const likely = keyNames.flatMap((pattern) => names.filter((name) => pattern.test(name.replace(/^@/, ''))));
  return likely.find((name) => {
    const values = objects.map((record) => (isObject(record[name]) ? undefined : textOf(record[name])));
    return !values.includes(undefined) && new Set(values).size === values.length;
  });
}

const changeName =
  /^(?:date_?|time_?|last_?)?(?:updated|modified|changed|edited)(?:_?(?:at|on|date|time|timestamp))?$|^lastUpdated$/i;

/** The field that probably contains the time of a record's last change. */
export function changeTimeIn(records: readonly JsonObject[]): string | undefined {
  const [first = {}] = records;
  const isTime = (value: unknown): boolean => /^(?:\d{4}-\d\d-\d\d|\d{10}(?:\d{3})?$)/.test(textOf(value) ?? '');
  return Object.keys(first).find((name) => changeName.test(name) && records.every((one) => isTime(one[name])));
}
