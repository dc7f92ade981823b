import type { Destination } from '../../config/config.ts';
import { dayOf } from '../../delivery/quota.ts';
import type { Store } from '../../state/store.ts';
import { countText } from '../output/format.ts';
import type { JobRecord, Peak, Recorder } from './recorder.ts';
import '../../lib/temporal.ts';

/** A simulation's result. All instants are in epoch milliseconds. */
export interface SimulationReport {
  readonly since: number;
  readonly until: number;
  readonly seed: number;
  /** Number of jobs whose generated rows are modeled on their past runs. */
  readonly known_jobs: number;
  readonly faults?: { readonly outage_at: number; readonly source_outage_at: number };
  /**
   * True if every job's newest result is shown at the end, no allowance ran out, and each day had enough requests for
   * its firings.
   */
  readonly fits: boolean;
  readonly firings: {
    readonly planned: number;
    readonly overlaps: number;
    readonly skipped: number;
    readonly throttled: number;
    /** Delay between firings' planned instants and the starts of their runs, in milliseconds. */
    readonly late_ms: Percentiles;
  };
  readonly runs: Counts;
  /** Time between payloads becoming owed and their delivery, in milliseconds. */
  readonly delivery_ms: Percentiles;
  readonly outbox: { readonly peak_payloads: number; readonly peak_bytes: number; readonly peak_at?: number };
  readonly accounts: readonly AccountUse[];
  readonly jobs: readonly JobUse[];
  /** Reasons why the config doesn't fit its allowance or limits, one sentence each. */
  readonly trouble: readonly string[];
  /** Changes that would make the config fit. */
  readonly next: readonly string[];
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Name of the job with the largest value. */
  readonly job?: string;
}

interface Counts {
  readonly runs: number;
  /** Number of retries of runs whose source failed. */
  readonly attempts: number;
  readonly delivered: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly failed: number;
  readonly dead: number;
  /** Number of payloads that are still owed at the end. */
  readonly owed: number;
  readonly requests: number;
  readonly retries: number;
}

export interface AccountUse {
  readonly destinations: readonly string[];
  /** Number of requests per day that schedules may use. The reserve is excluded. */
  readonly limit: number;
  readonly days: readonly { readonly day: string; readonly used: number; readonly ended: boolean }[];
  readonly peak: { readonly day: string; readonly used: number };
  /** Number of requests that query the service's usage. */
  readonly usage_queries: number;
}

export interface JobUse extends Counts {
  readonly job: string;
  readonly firings: number;
  readonly overlaps: number;
  readonly skipped: number;
  readonly throttled: number;
  /** Number of runs that failed, or whose payload is dead, since the last successful run. */
  readonly lost: number;
  readonly latest_ms: number;
}

/** Maximum number of job names to list in a sentence. */
const maxNamed = 5;

export interface ReportOptions {
  readonly from: number;
  readonly until: number;
  readonly seed: number;
  readonly knownJobs: number;
  readonly outageAt: number | undefined;
  /** Start of the hour in which all sources are down. */
  readonly sourceOutageAt: number | undefined;
  readonly destinations: readonly Destination[];
  readonly store: Store;
  readonly recorder: Recorder;
  /** Returns the account that a job's requests are counted for. */
  readonly accountOf: (job: string) => string;
}

export async function reportSimulation(given: ReportOptions): Promise<SimulationReport> {
  const { from, until, seed, knownJobs, outageAt, sourceOutageAt, recorder } = given;
  const owed = Map.groupBy(recorder.owed, (job) => job);
  const records = [...recorder.jobs.values()];
  const jobs = records.map((one) => jobUse(one, owed.get(one.job)?.length ?? 0));
  const accounts = await accountsOf(given);
  const runs = totalOf(jobs);
  const short = await shortFirings(given);
  const trouble = [...accounts.flatMap(allowanceTrouble), ...throttleTrouble(short), ...lossesOf(jobs)];
  const sum = (of: (one: JobRecord) => number): number => records.reduce((total, one) => total + of(one), 0);
  return {
    ...{ since: from, until, seed, known_jobs: knownJobs },
    ...(outageAt === undefined || sourceOutageAt === undefined
      ? {}
      : { faults: { outage_at: outageAt, source_outage_at: sourceOutageAt } }),
    fits: trouble.length === 0,
    firings: {
      planned: sum(({ firings }) => firings),
      overlaps: sum(({ overlaps }) => overlaps),
      skipped: sum(({ skipped }) => skipped),
      throttled: sum(({ throttled }) => throttled.length),
      late_ms: percentilesOf(records.flatMap(({ job, lateness }) => lateness.map((ms) => ({ job, ms })))),
    },
    runs,
    delivery_ms: percentilesOf(records.flatMap(({ job, waits }) => waits.map((ms) => ({ job, ms })))),
    outbox: peakOf(recorder.peak),
    accounts,
    jobs,
    trouble,
    next: fixesOf(runs, { accounts, isThrottled: short > 0 }),
  };
}

function jobUse({ lateness, waits: _, throttled, ...counts }: JobRecord, owed: number): JobUse {
  return { ...counts, throttled: throttled.length, owed, latest_ms: lateness.reduce((a, b) => Math.max(a, b), 0) };
}

function totalOf(jobs: readonly JobUse[]): Counts {
  const sum = (of: (one: JobUse) => number): number => jobs.reduce((total, one) => total + of(one), 0);
  return {
    runs: sum(({ runs }) => runs),
    attempts: sum(({ attempts }) => attempts),
    delivered: sum(({ delivered }) => delivered),
    unchanged: sum(({ unchanged }) => unchanged),
    superseded: sum(({ superseded }) => superseded),
    failed: sum(({ failed }) => failed),
    dead: sum(({ dead }) => dead),
    owed: sum(({ owed }) => owed),
    requests: sum(({ requests }) => requests),
    retries: sum(({ retries }) => retries),
  };
}

function percentilesOf(measured: { job: string; ms: number }[]): Percentiles {
  const sorted = measured.sort((a, b) => a.ms - b.ms);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]?.ms ?? 0;
  const last = sorted.at(-1);
  return { p50: at(0.5), p99: at(0.99), max: last?.ms ?? 0, job: last?.job };
}

function peakOf({ payloads, bytes, at }: Peak): SimulationReport['outbox'] {
  return { peak_payloads: payloads, peak_bytes: bytes, ...(payloads === 0 ? {} : { peak_at: at }) };
}

async function accountsOf({ destinations, store, recorder, from, until }: ReportOptions): Promise<AccountUse[]> {
  const days = daysBetween(from, until);
  const accounts = Map.groupBy(destinations, ({ account }) => account);
  return Promise.all(
    [...accounts].map(async ([account, held]) => {
      const limit = limitOfAccount(held);
      const used = await Promise.all(
        days.map(async (day) => {
          const use = await store.quota.use(account, day);
          return { day, used: use.used, ended: use.used >= limit };
        }),
      );
      const peak = used.reduce((most, one) => (one.used > most.used ? one : most));
      return {
        destinations: held.map(({ name }) => name),
        limit,
        days: used,
        peak: { day: peak.day, used: peak.used },
        usage_queries: recorder.usageQueries.get(account) ?? 0,
      };
    }),
  );
}

/**
 * Number of firings that were throttled on days whose allowance couldn't have covered them. The daemon also throttles
 * as a precaution while it knows little about a job. If the allowance would have covered those firings at their average
 * cost, they aren't counted, because the config still fits.
 */
async function shortFirings({ destinations, store, recorder, accountOf }: ReportOptions): Promise<number> {
  const throttledFirings = [...recorder.jobs.values()].flatMap(({ job, throttled, requests, runs }) =>
    throttled.map((at) => ({ account: accountOf(job), day: dayOf(at), cost: runs === 0 ? 1 : requests / runs })),
  );
  let short = 0;
  for (const [account, ofAccount] of Map.groupBy(throttledFirings, (one) => one.account)) {
    const limit = limitOfAccount(destinations.filter((one) => one.account === account));
    for (const [day, firings] of Map.groupBy(ofAccount, (one) => one.day)) {
      const { used } = await store.quota.use(account, day);
      const skippedCost = firings.reduce((sum, { cost }) => sum + cost, 0);
      if (used + skippedCost > limit) short += firings.length;
    }
  }
  return short;
}

function limitOfAccount(sharing: readonly Destination[]): number {
  return Math.max(...sharing.map(({ requestsPerDay, reserveRequests }) => requestsPerDay - reserveRequests));
}

/** Returns every service day that overlaps the simulated period. */
function daysBetween(from: number, until: number): string[] {
  const last = dayOf(until - 1);
  const days: string[] = [];
  for (let day = dayOf(from); day <= last; day = Temporal.PlainDate.from(day).add({ days: 1 }).toString())
    days.push(day);
  return days;
}

function allowanceTrouble({ destinations, limit, days }: AccountUse): string[] {
  const ended = days.filter((one) => one.ended).map(({ day }) => day);
  if (ended.length === 0) return [];
  return [
    `the daily allowance of ${destinations.join(', ')} (${countText(limit)} requests) was used up on ${ended.join(', ')}`,
  ];
}

function throttleTrouble(throttled: number): string[] {
  if (throttled === 0) return [];
  const firings = throttled === 1 ? '1 firing was' : `${countText(throttled)} firings were`;
  return [`${firings} skipped because the daily allowance would have run out`];
}

function lossesOf(jobs: readonly JobUse[]): string[] {
  const named = (those: readonly JobUse[]): string => {
    const names = those.slice(0, maxNamed).map(({ job }) => job);
    return those.length === names.length
      ? names.join(', ')
      : `${names.join(', ')} and ${those.length - names.length} more`;
  };
  const lost = jobs.filter((one) => one.lost > 0);
  const owed = jobs.filter((one) => one.owed > 0);
  return [
    ...(lost.length > 0
      ? [`the last runs of ${named(lost)} failed or were abandoned, and no later run delivered a result`]
      : []),
    ...(owed.length > 0 ? [`the newest rows of ${named(owed)} were still undelivered at the end`] : []),
  ];
}

function fixesOf(
  { dead }: Counts,
  { accounts, isThrottled }: { accounts: readonly AccountUse[]; isThrottled: boolean },
): string[] {
  const names = accounts.flatMap(({ destinations }) => destinations).join(', ');
  const isShort = isThrottled || accounts.some(({ days }) => days.some(({ ended }) => ended));
  return [
    ...(isShort
      ? [`run jobs less often, or raise requests_per_day of ${names} if your plan with the service allows more`]
      : []),
    ...(dead > 0 ? [`raise attempts of ${names} so that payloads survive frequent service failures`] : []),
  ];
}
