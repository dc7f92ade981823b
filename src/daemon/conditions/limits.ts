import type { Alerts } from '../../config/alerts.ts';
import type { Config, Job } from '../../config/config.ts';
import { alertDefaults } from '../../config/options/alerts.ts';
import { fractionOf } from '../../config/options/field.ts';
import { spanOf } from '../../lib/span.ts';

/** How old a job's data may become. If undefined, derived from its schedule; if false, the data is never stale. */
export function staleAfterOf({ alerts: own }: Job, { alerts }: Config): number | false | undefined {
  if (own !== undefined && own !== false && 'staleAfterMs' in own) return own.staleAfterMs;
  return alerts?.staleAfterMs;
}

/** The effective thresholds, with or without an `alerts` section. */
export function thresholdsOf({ alerts }: Config): Pick<Alerts, 'unsentAfterMs' | 'quotaLeft'> {
  return alerts ?? defaults;
}

const defaults = {
  unsentAfterMs: spanOf(alertDefaults.unsentAfter),
  quotaLeft: fractionOf(alertDefaults.quotaLeft),
};
