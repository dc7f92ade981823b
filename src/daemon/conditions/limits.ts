import type { Alerts } from '../../config/alerts.ts';
import type { Config, Job } from '../../config/config.ts';
import { alertDefaults } from '../../config/options/alerts.ts';
import { fractionOf } from '../../config/options/field.ts';
import { spanOf } from '../../lib/span.ts';

/** How old the data of a job may become; undefined: by its schedule; false: it never counts as too old. */
export function staleAfterOf({ alerts: own }: Job, { alerts }: Config): number | false | undefined {
  if (own !== undefined && own !== false && 'staleAfterMs' in own) return own.staleAfterMs;
  return alerts?.staleAfterMs;
}

/** From when on it is too late, with or without a section `alerts`. */
export function thresholdsOf({ alerts }: Config): Pick<Alerts, 'unsentAfterMs' | 'quotaLeft'> {
  return alerts ?? defaults;
}

const defaults = {
  unsentAfterMs: spanOf(alertDefaults.unsentAfter),
  quotaLeft: fractionOf(alertDefaults.quotaLeft),
};
