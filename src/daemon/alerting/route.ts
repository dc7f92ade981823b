import type { AlertLimits, Alerts, Occasion } from '../../config/alerts.ts';
import type { Job } from '../../config/config.ts';
import { fitsJob } from '../../config/job-pattern.ts';
import { acceptsAlerts } from '../../config/options/alerts.ts';

/** Returns the job's alert limits, or the top-level limits if the alert isn't about a single job. */
export function limitsOf(job: Job | undefined, alerts: Alerts): AlertLimits {
  return job?.alerts === undefined || job.alerts === false ? alerts : { ...alerts, ...job.alerts };
}

/**
 * Returns an alert's channels, sorted: the job's own channels if set, otherwise the channels of all matching rules,
 * otherwise all channels.
 */
export function routeOf({ occasion, job }: { occasion: Occasion; job?: Job }, alerts: Alerts): string[] {
  const own = job?.alerts === undefined || job.alerts === false ? undefined : job.alerts.to;
  if (own !== undefined) return [...new Set(own)].sort();
  if (alerts.rules.length === 0) {
    const all = [...alerts.channels.values()].filter(acceptsAlerts);
    return all.map(({ name }) => name).sort();
  }
  const fitting = alerts.rules.filter(
    ({ on, jobs }) => (on.length === 0 || on.includes(occasion)) && (jobs.length === 0 || isNamed(job, jobs)),
  );
  return [...new Set(fitting.flatMap(({ to }) => to))].sort();
}

function isNamed(job: Job | undefined, patterns: readonly string[]): boolean {
  return job !== undefined && patterns.some((pattern) => fitsJob(pattern, job.name));
}
