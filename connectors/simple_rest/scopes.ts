import { type Scope, spansOf } from '#sdk';
import type { RestQuery, RestWindow } from './options.ts';
import { scopesOfPaths } from './paths.ts';

/** One scope per path and step of the window, or a single scope if there are neither. */
export function* scopesOf(query: RestQuery, scope: Scope): Generator<Scope> {
  for (const dates of scopesOfWindow(query, scope)) yield* scopesOfPaths(query, dates);
}

function* scopesOfWindow({ window, cursor }: RestQuery, scope: Scope): Generator<Scope> {
  if (window === undefined) return yield scope;
  // A record changed on the last day of a period must not be missed because the API takes a date as its midnight.
  const { step, bound = cursor === undefined ? 'inside' : 'outside' } = window;
  const { start, end } = cursor === undefined ? window : cursorWindow(window, scope);
  const dated: Scope = { ...scope, start_date: start, ...(end === undefined ? {} : { end_date: end }) };
  const spans = spansOf({ end: bound, ...(step === undefined ? {} : { step }) }, dated, undefined);
  if (cursor === undefined) return yield* spans.map((window) => ({ ...scope, window }));
  const isLocal = localTime.test(String(scope.since));
  let { since } = scope;
  for (const { from, to } of spans) {
    const until = isLocal && !to.isDay ? to.text('local') : to;
    since = isLocal ? since : from;
    // Local times repeat when clocks are set back, so a period may end before it begins.
    if (typeof until === 'string' && until <= String(since).replace(' ', 'T')) continue;
    yield { ...scope, window: { from: since, to: until }, since, until };
    since = until;
  }
}

/** A time without a zone, which is sent as it is written. */
const localTime = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/;

/**
 * The window of an incremental read. In a backfill, it ends with the range, which excludes the day in `until`; a window
 * includes the day in `end`.
 */
function cursorWindow({ end = '{{ now }}' }: RestWindow, { until }: Scope): Pick<RestWindow, 'start' | 'end'> {
  if (until === undefined) return { start: '{{ since }}', end };
  const isDay = /^\d{4}-\d\d-\d\d$/.test(String(until));
  return { start: '{{ since }}', end: isDay ? '{{ until - 1d }}' : '{{ until }}' };
}
