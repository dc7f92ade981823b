import { type Scope, spansOf } from '#sdk';
import type { RestQuery, RestWindow } from './options.ts';
import { scopesOfPaths } from './paths.ts';

/** One scope per path and step of the window, or a single scope if there are neither. */
export function* scopesOf(query: RestQuery, scope: Scope): Generator<Scope> {
  for (const dates of scopesOfWindow(query, scope)) yield* scopesOfPaths(query, dates);
}

function* scopesOfWindow({ window, cursor }: RestQuery, scope: Scope): Generator<Scope> {
  if (window === undefined) return yield scope;
  const { step, bound = 'inside' } = window;
  const { start, end } = cursor === undefined ? window : cursorWindow(window, scope);
  const dated: Scope = { ...scope, start_date: start, ...(end === undefined ? {} : { end_date: end }) };
  for (const span of spansOf({ end: bound, ...(step === undefined ? {} : { step }) }, dated, undefined)) {
    yield { ...scope, window: span, ...(cursor === undefined ? {} : { since: span.from, until: span.to }) };
  }
}

/** The window of an incremental read. In a backfill, it ends with the range. */
function cursorWindow({ end = '{{ now }}' }: RestWindow, { until }: Scope): Pick<RestWindow, 'start' | 'end'> {
  return { start: '{{ since }}', end: until === undefined ? end : '{{ until }}' };
}
