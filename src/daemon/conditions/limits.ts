import type { Alerts } from '../../config/alerts.ts';
import type { Config, Job } from '../../config/config.ts';
import { alertDefaults } from '../../config/options/alerts.ts';
import { fractionOf } from '../../config/options/field.ts';
import { spanOf } from '../../lib/span.ts';

/**
 * The maximum age of a job's data. If undefined, it's derived from the job's schedule. If false, the data never counts
 * as stale.
 */
export function staleAfterOf({ alerts: own }: Job, { alerts }: Config): number | false | undefined {
  if (own !== undefined && own !== false && 'staleAfterMs' in own) return own.staleAfterMs;
  return alerts?.staleAfterMs;
}

/** Returns the effective thresholds, whether or not the config has an `alerts` section. */
export function thresholdsOf({ alerts }: Config): Pick<Alerts, 'unsentAfterMs' | 'quotaLeft'> {
  return alerts ?? defaults;
}

const defaults = {
  unsentAfterMs: spanOf(alertDefaults.unsentAfter),
  quotaLeft: fractionOf(alertDefaults.quotaLeft),
};
