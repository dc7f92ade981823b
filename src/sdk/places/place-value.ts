import { parseExact } from '../service/exact-json.ts';
import type { Place } from './place.ts';
import { PlaceFinder } from './place-finder.ts';

interface ResponseParts {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The parsed body, if the place may be in it. */
  readonly body?: unknown;
}

/** The value at a place in a response's headers or parsed body; undefined if there's none. */
export function placeValue(place: Place, { headers, body }: ResponseParts): unknown {
  if (place.from !== 'header') return found(place, body);
  const value = headers[place.header!.toLowerCase()];
  const text = value === undefined ? undefined : [value].flat().join(', ');
  return text === undefined || place.steps.length === 0 ? text : found(place, parsed(text));
}

function found(place: Place, root: unknown): unknown {
  const finder = new PlaceFinder([{ ...place, from: 'body' }]);
  finder.take(finder.start(), root);
  finder.end();
  return finder.values.get(place.text);
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
