import { type HttpResponse, type Place, placeValue } from '#sdk';

/** The values at those of the places that are in a response's headers. */
export function headerValues(
  places: readonly Place[],
  answer: Pick<HttpResponse, 'headers'>,
): ReadonlyMap<string, unknown> {
  const inHeaders = places.filter(({ from }) => from === 'header');
  return new Map(inHeaders.map((place) => [place.text, placeValue(place, answer)]));
}
