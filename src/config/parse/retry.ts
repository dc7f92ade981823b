import { isMap } from '../../lib/is-map.ts';
import type { RetryRule } from '../config.ts';
import { retryDefaults, retryOptions, type WrittenRetry } from '../options/retry.ts';
import { readSpan } from '../options/times.ts';
import type { Faults } from '../text/faults.ts';
import { showValue } from '../text/show-value.ts';
import { type Part, partAt } from '../text/variables.ts';
import { fittingOptions } from './validate.ts';

const secondMs = 1000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Spans from and up to which each option is taken, milliseconds. */
const bounds = {
  first: { from: secondMs, to: hourMs },
  longest: { from: secondMs, to: dayMs },
  within: { from: secondMs, to: 7 * dayMs },
} as const;

export const defaultRetry: RetryRule = { firstMs: 30_000, longestMs: 600_000, withinMs: 6 * hourMs };

/**
 * The rule behind `retry` of a job or of the top level; false if it is off, `otherwise` if nothing is written or there is a
 * fault. What a map leaves out is taken from `otherwise`, or is as by default if that is off.
 *
 * @param part the job's, or the top level's.
 */
export function loadRetry(part: Part, otherwise: RetryRule | false, faults: Faults): RetryRule | false {
  const at = partAt(part, 'retry');
  if (at.value === 'off') return false;
  if (!isMap(at.value)) return otherwise;
  const written = fittingOptions(retryOptions, at.value) as Exclude<WrittenRetry, 'off'>;
  const rest = otherwise === false ? defaultRetry : otherwise;
  const span = (option: keyof typeof bounds, inherited: number): number =>
    written[option] === undefined ? inherited : (spanAt(partAt(at, option), option, faults) ?? inherited);
  const attempts = written.attempts ?? rest.attempts;
  const rule: RetryRule = {
    firstMs: span('first', rest.firstMs),
    longestMs: span('longest', rest.longestMs),
    withinMs: span('within', rest.withinMs),
    attempts,
  };
  if (written.first !== undefined && written.longest === undefined && rule.firstMs > rule.longestMs) {
    return { ...rule, longestMs: rule.firstMs };
  }
  if (rule.firstMs > rule.longestMs) tellOrder(at, faults);
  return rule;
}

function spanAt(at: Part, option: keyof typeof bounds, faults: Faults): number | undefined {
  if (at.broken.has(at.path)) return undefined;
  const told = readSpan(String(at.value), { of: `"${option}"`, ...bounds[option] });
  if ('value' in told) return told.value;
  const { fault, allowed, next } = told;
  faults.add({
    code: 'CONFIG_RETRY',
    message: `Invalid "retry": ${fault}`,
    path: at.path,
    seen: showValue(at.value),
    allowed,
    next,
  });
  return undefined;
}

function tellOrder(at: Part, faults: Faults): void {
  const longest = partAt(at, 'longest');
  faults.add({
    code: 'CONFIG_RETRY',
    message: 'Invalid "retry": the longest wait is shorter than the first',
    path: longest.path,
    seen: showValue(longest.value),
    allowed: `"longest" from "first" on; by default ${retryDefaults.first} and ${retryDefaults.longest}`,
    next: 'Raise "longest", or lower "first"',
  });
}
