import { Problem } from '../../lib/problem.ts';
import { badPath, parsePath, type Step } from './path-syntax.ts';

/** Where a value is in a response: in its body, in a header, or in the last record of a page. */
export interface Place {
  /** The place as it's written in the config. */
  readonly text: string;
  readonly from: 'body' | 'header' | 'last_record';
  /** The header's name. If the header contains JSON, the steps lead to a value in it. */
  readonly header?: string;
  readonly steps: readonly Step[];
}

/**
 * Reads a place: a path in the body, `header(NAME)` with an optional path, or `last_record()` with an optional path.
 * @throws Problem if the text has another form.
 */
export function parsePlace(text: string): Place {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const place = readPlace(text);
  if (parsed.size < 10_000) parsed.set(text, place);
  return place;
}

const parsed = new Map<string, Place>();

function readPlace(text: string): Place {
  const [, name, inHeader = ''] = /^header\(\s*([\w!#$%&'*+.^`|~-]+)\s*\)(.*)$/s.exec(text) ?? [];
  if (name !== undefined) return { text, from: 'header', header: name, steps: parsePath(`$${inHeader}`) };
  const [, inRecord] = /^last_record\(\)(.*)$/s.exec(text) ?? [];
  if (inRecord !== undefined) return { text, from: 'last_record', steps: parsePath(`$${inRecord}`) };
  if (/^(?:header|last_record)\(/.test(text)) throw badPath(text, text);
  return { text, from: 'body', steps: parsePath(text) };
}

/** A place in a response whose records are at this path: `data[-1].id` is in the last record if they are at `data`. */
export function placeAmong(text: string, records: string): Place {
  const place = parsePlace(text);
  const last = place.steps.findIndex((step) => typeof step !== 'string');
  const isLast = place.from === 'body' && last >= 0 && 'last' in (place.steps[last] as object);
  if (!isLast || nameOf(place.steps.slice(0, last)) !== nameOf(parsePath(records))) return place;
  return { text, from: 'last_record', steps: place.steps.slice(last + 1) };
}

/**
 * A place in a JSON response for the reader, which reads the whole response as a record if the records are at `$`, so
 * that the response's places are in that record.
 */
export function placeInJson(text: string, records: string): Place {
  const place = placeAmong(text, records);
  return records === '$' && place.from === 'body' ? { ...place, from: 'last_record' } : place;
}

/** Why a text isn't a place; undefined if it is one. */
export function placeFault(text: string, records: string): string | undefined {
  try {
    const { from, steps } = placeAmong(text, records);
    return from === 'body' ? throughRecords(steps, parsePath(records)) : undefined;
  } catch (error) {
    if (error instanceof Problem) return `${error.message}; allowed: ${error.allowed}`;
    throw error;
  }
}

/** Why a text can't be the path of records; undefined if it can be. */
export function recordsFault(text: string): string | undefined {
  try {
    const isPlain = parsePath(text).every((step) => typeof step === 'string');
    return isPlain ? undefined : 'can contain names, indexes and `*`, but no filters and no `[-1]`';
  } catch (error) {
    if (error instanceof Problem) return `${error.message}; allowed: a.b, a[0], a[*], a['b.c']`;
    throw error;
  }
}

/** Selecting items of a list that contains the records would need all records in memory. */
function throughRecords(steps: readonly Step[], records: readonly Step[]): string | undefined {
  const chosen = steps.findIndex((step) => typeof step !== 'string');
  const isThrough = chosen >= 0 && chosen <= records.length && steps.slice(0, chosen).every((s, i) => s === records[i]);
  return isThrough ? 'selects items of a list that contains the records; use an index, such as `[0]`' : undefined;
}

function nameOf(steps: readonly Step[]): string {
  return steps.join('.');
}
