import type { AlertLimits, Alerts, Occasion } from '../../config/alerts.ts';
import type { Job } from '../../config/config.ts';
import { fitsJob } from '../../config/job-pattern.ts';

/** What holds for a job, or for what concerns no single one. */
export function limitsOf(job: Job | undefined, alerts: Alerts): AlertLimits {
  return job?.alerts === undefined || job.alerts === false ? alerts : { ...alerts, ...job.alerts };
}

/** The channels that hear of it, sorted: the job's own, else those of all rules that fit, else all. */
export function routeOf({ occasion, job }: { occasion: Occasion; job?: Job }, alerts: Alerts): string[] {
  const own = job?.alerts === undefined || job.alerts === false ? undefined : job.alerts.to;
  if (own !== undefined) return [...new Set(own)].sort();
  if (alerts.rules.length === 0) {
    const all = [...alerts.channels.values()].filter(({ type }) => type !== 'heartbeat');
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
