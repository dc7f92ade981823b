import { type HttpResponse, type Place, PlaceFinder, parseExact } from '#sdk';

/** The values at those of the places that are in a response's headers. */
export function headerValues(
  places: readonly Place[],
  answer: Pick<HttpResponse, 'headers'>,
): ReadonlyMap<string, unknown> {
  const inHeaders = places.filter(({ from }) => from === 'header');
  return new Map(inHeaders.map((place) => [place.text, headerValue(place, answer)]));
}

/** The value at a place in a response's headers; undefined if there is none. */
function headerValue(place: Place, { headers }: Pick<HttpResponse, 'headers'>): unknown {
  const value = headers[place.header!.toLowerCase()];
  const text = value === undefined ? undefined : [value].flat().join(', ');
  if (text === undefined || place.steps.length === 0) return text;
  const finder = new PlaceFinder([{ ...place, from: 'body' }]);
  finder.take(finder.start(), parsed(text));
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
