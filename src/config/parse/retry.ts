import { isMap } from '../../lib/is-map.ts';
import { spanOf } from '../../lib/span.ts';
import type { RetryRule } from '../config.ts';
import { readWritten } from '../options/field.ts';
import { retryDefaults, retryOptions } from '../options/retry.ts';
import type { Faults } from '../text/faults.ts';
import { showValue } from '../text/show-value.ts';
import { type Part, partAt } from '../text/variables.ts';

export const defaultRetry: RetryRule = {
  firstMs: spanOf(retryDefaults.first),
  longestMs: spanOf(retryDefaults.longest),
  withinMs: spanOf(retryDefaults.within),
};

/**
 * Parses the `retry` rule of a job or the top level. Returns false if retries are off, or `otherwise` if the rule is
 * absent. Fields that are missing from a map are taken from `otherwise`, or from the defaults if `otherwise` is false.
 *
 * @param part the job's part, or the top level's
 */
export function loadRetry(part: Part, otherwise: RetryRule | false, faults: Faults): RetryRule | false {
  const at = partAt(part, 'retry');
  if (at.value === 'off') return false;
  if (!isMap(at.value)) return otherwise;
  const written = readWritten(retryOptions, at, faults);
  const rule = { ...(otherwise || defaultRetry), ...written };
  if (rule.firstMs <= rule.longestMs) return rule;
  if (written.longestMs === undefined) return { ...rule, longestMs: rule.firstMs };
  const longest = partAt(at, 'longest');
  faults.add({
    code: 'CONFIG_RETRY',
    message: 'Invalid "retry": the longest wait is shorter than the first',
    path: longest.path,
    seen: showValue(longest.value),
    allowed: `"first" up to "longest"; by default ${retryDefaults.first} and ${retryDefaults.longest}`,
    next: 'raise "longest", or lower "first"',
  });
  return rule;
}
