import { Problem } from '../../lib/problem.ts';
import type { Window } from './description.ts';
import type { Moment } from './moment.ts';
import { momentOf, render, type Scope } from './template.ts';
import '../../lib/temporal.ts';

/** A time range that is requested in one step. */
export interface TimeSpan {
  readonly from: Moment;
  readonly to: Moment;
}

/** The windows from `start_date` (or the end of the last run minus the look-back) to `end_date`. */
export function* spansOf(window: Window, scope: Scope, until: Moment | undefined): Generator<TimeSpan> {
  const { step, look_back = '0d', start = '30d' } = window;
  const end = boundOf('end_date', scope) ?? momentOf(render('{{ today }}', scope), scope)!;
  const usual = momentOf(render(`{{ today - ${start} }}`, scope), scope)!;
  const begin = (moment: Moment) => (isUnit(step) ? unitStart(step, moment, scope) : moment);
  let from = until === undefined ? (boundOf('start_date', scope) ?? begin(usual)) : begin(until.plus(`-${look_back}`));
  // The end date is inclusive.
  const last = end.isDay ? end.plus('1d') : end;
  while (isBefore(from, last)) {
    const next = step === undefined ? last : earlier(begin(from).plus(isUnit(step) ? units[step] : step), last);
    yield { from, to: window.end === 'outside' ? next : next.isDay ? next.plus('-1d') : next };
    from = next;
  }
}

/** The end of the last window, where the next run starts. */
export function endOf(scope: Scope): Moment {
  return boundOf('end_date', scope) ?? momentOf(render('{{ today }}', scope), scope)!;
}

/** A time bound from an option: a date, an instant, or a template. */
export function boundOf(option: 'start_date' | 'end_date', scope: Scope): Moment | undefined {
  const given = scope[option];
  if (given === undefined || given === '') return undefined;
  const moment = momentOf(render(String(given), scope), scope);
  if (moment !== undefined) return moment;
  throw new Problem({
    code: 'SERVICE_DATE',
    family: 'config',
    message: `\`${option}\` is not a valid date`,
    seen: String(given),
    allowed: '2026-01-31, 2026-01-31T09:00:00Z, or a template such as {{ today - 7d }}',
  });
}

const units = { week: '1w', month: '1mo', quarter: '3mo', year: '1y' } as const;

function isUnit(step: string | undefined): step is keyof typeof units {
  return step !== undefined && Object.hasOwn(units, step);
}

/** The first day of the week, month, quarter or year that contains a moment. */
function unitStart(unit: keyof typeof units, moment: Moment, scope: Scope): Moment {
  return momentOf(render(`{{ ${unit}_start }}`, { ...scope, now: moment }), scope)!;
}

function isBefore(a: Moment, b: Moment): boolean {
  return Temporal.ZonedDateTime.compare(a.at, b.at) < 0;
}

function earlier(a: Moment, b: Moment): Moment {
  return isBefore(a, b) ? a : b;
}
