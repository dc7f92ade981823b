import { advised } from '../../lib/advice.ts';
import type { RunWarning } from '../../lib/run-warnings.ts';

/** Formats a run's warning as lines of text, in the same format as a problem. */
export function warningText({ code, message, seen, next }: RunWarning, job?: string): string {
  return [
    `warning ${code}: ${message}`,
    ...(job === undefined ? [] : [`  where    job ${job}`]),
    ...(seen === undefined ? [] : [`  seen     ${seen}`]),
    ...(next === undefined ? [] : [`  next     ${advised(next)}`]),
  ].join('\n');
}
