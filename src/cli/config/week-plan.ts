import { reportPlan } from '../../daemon/plan/report-plan.ts';
import { untilMidnight } from '../../delivery/quota.ts';
import type { Version } from './config-changes.ts';

/** The number of requests that an account needs on the busiest day of a week, in the worst case. */
export interface AccountPeak {
  readonly day: string;
  readonly requests: number;
  readonly limit: number;
  readonly fits: boolean;
}

/** The requests that a config's schedules need in seven full days if no job has run before. */
export interface WeekPlan {
  /** Average number of firings per day of each enabled job with a schedule. */
  readonly firings: ReadonlyMap<string, number>;
  /** Each account's peak. The keys are the names of the account's destinations. */
  readonly accounts: ReadonlyMap<string, AccountPeak>;
}

const days = 7;

/** Plans seven service days, starting tomorrow. */
export async function planWeek(version: Version, today: number): Promise<WeekPlan> {
  const firings = new Map<string, number>();
  const accounts = new Map<string, AccountPeak>();
  if (version === undefined) return { firings, accounts };
  const start = today + untilMidnight(today);
  let end = start;
  for (let i = 0; i < days; i++) end += untilMidnight(end);
  // A plan includes the firings after `now` and up to `until`, inclusive.
  const plan = await reportPlan({ config: version.config, store: undefined, now: start - 1, until: end - 1 });
  for (const { destinations, day, worst, limit, by_job: jobs } of plan.accounts) {
    for (const { job, firings: count } of jobs) firings.set(job, (firings.get(job) ?? 0) + count / days);
    const name = destinations.toSorted().join(', ');
    const busiest = accounts.get(name);
    if (busiest !== undefined && busiest.requests >= worst.wanted) continue;
    accounts.set(name, { day, requests: worst.wanted, limit, fits: worst.fits });
  }
  return { firings, accounts };
}
