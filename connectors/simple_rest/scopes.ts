import { type Scope, spansOf } from '#sdk';
import type { RestQuery } from './options.ts';
import { scopesOfPaths } from './paths.ts';

/** One scope per path and step of the window, or a single scope if there are neither. */
export function* scopesOf(query: RestQuery, scope: Scope): Generator<Scope> {
  for (const dates of scopesOfWindow(query, scope)) yield* scopesOfPaths(query, dates);
}

function* scopesOfWindow({ window }: RestQuery, scope: Scope): Generator<Scope> {
  if (window === undefined) return yield scope;
  const { start, end, step, bound = 'inside' } = window;
  const dated: Scope = { ...scope, start_date: start, ...(end === undefined ? {} : { end_date: end }) };
  for (const span of spansOf({ end: bound, ...(step === undefined ? {} : { step }) }, dated, undefined)) {
    yield { ...scope, window: span };
  }
}
