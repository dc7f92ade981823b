import type { Scope } from './template.ts';
import { boundOf } from './windows.ts';

/** Checks a query's dates. `scope` contains the template variables that the dates may use. */
export function dateFaults(
  query: Readonly<Record<string, unknown>>,
  scope: Scope,
): { option: string; message: string }[] {
  const faults = (['start_date', 'end_date'] as const).flatMap((option) => {
    try {
      boundOf(option, scope);
      return [];
    } catch (error) {
      return [{ option, message: (error as Error).message }];
    }
  });
  return faults.length === 0 && isReversed(query, scope)
    ? [{ option: 'start_date', message: 'is after `end_date`, so the job would read nothing' }]
    : faults;
}

/**
 * Whether the start is after the end. Checks only fixed dates, because templates may result in this order on some days,
 * such as the first of a month.
 */
function isReversed(query: Readonly<Record<string, unknown>>, scope: Scope): boolean {
  if (`${query.start_date}${query.end_date}`.includes('{{')) return false;
  const [start, end] = [boundOf('start_date', scope), boundOf('end_date', scope)];
  if (start === undefined || end === undefined) return false;
  // If the end is a day, the range includes that day.
  const last = end.isDay ? end.plus('1d').at.epochMilliseconds - 1 : end.at.epochMilliseconds;
  return start.at.epochMilliseconds > last;
}
