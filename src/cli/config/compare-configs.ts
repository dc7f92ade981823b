import { scheduleText } from '../../config/show/schedule-text.ts';
import { type ConfigChange, configChanges, type Version } from './config-changes.ts';
import { type AccountPeak, planWeek, type WeekPlan } from './week-plan.ts';

/**
 * A value in two configs, before and after a change. The value is null in a config that doesn't contain the job or
 * account.
 */
interface Pair<T> {
  readonly before: T | null;
  readonly after: T | null;
}

export interface JobDifference {
  readonly job: string;
  readonly change: 'added' | 'removed' | 'changed' | 'unchanged';
  readonly schedule: Pair<string>;
  /** Average over a week. */
  readonly firings_per_day: Pair<number>;
}

/** How a config differs from an earlier version. */
export interface ConfigDifference {
  readonly jobs: readonly JobDifference[];
  readonly firings_per_day: { readonly before: number; readonly after: number };
  readonly accounts: readonly ({ readonly destinations: string } & Pair<AccountPeak>)[];
  readonly changes: readonly ConfigChange[];
  /**
   * False if, on at least one day, an account needs more requests than its limit, although it didn't before the change.
   */
  readonly fits: boolean;
}

/** Compares two configs and the requests that their schedules need. The stored state isn't used. */
export async function compareConfigs(before: Version, after: Version, now: number): Promise<ConfigDifference> {
  const changes = configChanges(before, after);
  const [old, fresh] = [await planWeek(before, now), await planWeek(after, now)];
  const names = union(before?.config.jobs, after?.config.jobs);
  const accounts = union(old.accounts, fresh.accounts).map((destinations) => ({
    destinations,
    before: old.accounts.get(destinations) ?? null,
    after: fresh.accounts.get(destinations) ?? null,
  }));
  const overdrawn = accounts.filter(({ before: was, after: is }) => is?.fits === false && was?.fits !== false);
  return {
    jobs: names.map((job) => jobDifference(job, { before, after, old, fresh, changes })),
    firings_per_day: { before: sumOf(old), after: sumOf(fresh) },
    accounts,
    changes,
    fits: overdrawn.length === 0,
  };
}

interface Both {
  readonly before: Version;
  readonly after: Version;
  readonly old: WeekPlan;
  readonly fresh: WeekPlan;
  readonly changes: readonly ConfigChange[];
}

function jobDifference(job: string, { before, after, old, fresh, changes }: Both): JobDifference {
  const was = before?.config.jobs.has(job) === true;
  const is = after?.config.jobs.has(job) === true;
  const isChanged = changes.some(({ path }) => path.startsWith(`/jobs/${job}/`));
  const firings = (has: boolean, plan: WeekPlan): number | null => (has ? rounded(plan.firings.get(job) ?? 0) : null);
  return {
    job,
    change: !was ? 'added' : !is ? 'removed' : isChanged ? 'changed' : 'unchanged',
    schedule: { before: scheduleOf(before, job), after: scheduleOf(after, job) },
    firings_per_day: { before: firings(was, old), after: firings(is, fresh) },
  };
}

function scheduleOf(version: Version, job: string): string | null {
  const one = version?.config.jobs.get(job);
  if (one === undefined) return null;
  if (!one.enabled) return 'disabled';
  return one.schedule === undefined ? 'manual' : scheduleText(one.schedule);
}

function union(...all: readonly (ReadonlyMap<string, unknown> | undefined)[]): string[] {
  return [...new Set(all.flatMap((one) => [...(one?.keys() ?? [])]))];
}

const sumOf = ({ firings }: WeekPlan): number => rounded([...firings.values()].reduce((a, b) => a + b, 0));
const rounded = (count: number): number => Number(count.toFixed(2));
