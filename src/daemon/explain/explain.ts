import type { Config, Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { warningsOf } from '../../state/runs/runs.ts';
import type { Store } from '../../state/store.ts';
import type { RunRow, SkipRow } from '../../state/tables.ts';
import { type Condition, concerns } from '../conditions/condition.ts';
import { type ConditionCache, readConditions } from '../conditions/read-conditions.ts';
import { type Overview, readOverview } from '../report/overview.ts';
import type { Facts, RuleResult } from './explain-facts.ts';
import { explainLeftOut } from './explain-left-out.ts';
import { currentLinks, type Explanation, skippedFiring, warningLinks } from './explain-links.ts';
import { applyRules } from './explain-rules.ts';

/** Maximum number of runs to list. A longer list wouldn't make the explanation clearer. */
const runsLookedAt = 50;

/** The input for an explanation: a config and its state. */
export interface ExplainOptions {
  readonly config: Config;
  /** Absent if no job of the config has run here yet. */
  readonly store: Store | undefined;
  readonly clock: Clock;
  readonly overview?: Overview;
  /** The conditions, if the caller has already read them. */
  readonly conditions?: readonly Condition[];
  readonly cache?: ConditionCache;
}

/** Explains why a job's target shows its current data. Reads only the store. */
export async function explainJob(job: Job, given: ExplainOptions): Promise<Explanation> {
  return (await explainJobs([job], given))[0] as Explanation;
}

/** Like {@link explainJob}, but explains several jobs and reads the store only once. */
export async function explainJobs(jobs: readonly Job[], given: ExplainOptions): Promise<Explanation[]> {
  const overview = given.overview ?? (await readOverview(given.config, given.store, given.clock));
  return explainAll(jobs, given, overview);
}

/** Explains every job that writes to an instance. Returns an empty list if there's no such job. */
export async function explainInstance(instance: string, given: ExplainOptions): Promise<Explanation[]> {
  const overview = await readOverview(given.config, given.store, given.clock);
  const jobs = [...given.config.jobs.values()].filter((job) => overview.addressOf(job)?.instance === instance);
  const left = await explainLeft([...(given.config.leftOut?.keys() ?? [])], given, overview);
  return [...(await explainAll(jobs, given, overview)), ...left.filter((one) => one.instance === instance)];
}

/** Explains a job that was excluded from the config because of errors. */
export async function explainLeftOutJob(job: string, given: ExplainOptions): Promise<Explanation> {
  const overview = await readOverview(given.config, given.store, given.clock);
  return (await explainLeft([job], given, overview))[0] as Explanation;
}

async function explainLeft(jobs: readonly string[], given: ExplainOptions, overview: Overview): Promise<Explanation[]> {
  if (jobs.length === 0) return [];
  const { config, store, clock } = given;
  const conditions = await readConditions(config, store, { clock, overview });
  return Promise.all(jobs.map((job) => explainLeftOut(job, { config, store, overview, conditions })));
}

async function explainAll(jobs: readonly Job[], given: ExplainOptions, overview: Overview): Promise<Explanation[]> {
  const { config, store, clock, cache } = given;
  const known = cache === undefined ? {} : { cache };
  const conditions = given.conditions ?? (await readConditions(config, store, { clock, overview, ...known }));
  return Promise.all(jobs.map((job) => explainOne(job, { ...given, conditions }, overview)));
}

async function explainOne(
  job: Job,
  { store, conditions: all }: ExplainOptions & { readonly conditions: readonly Condition[] },
  overview: Overview,
): Promise<Explanation> {
  const address = overview.addressOf(job);
  const shown = overview.publishedAsOf(job);
  const runs = currentLinks((await store?.runs.history({ job: job.name, limit: runsLookedAt })) ?? [], overview);
  const skip = (await store?.skips.history({ job: job.name, limit: 1 }))?.[0];
  const isMissing = address === undefined && job.extract !== undefined;
  const conditions = all.filter((one) => concerns(one, job.name));
  const judgement = applyRules(factsOf(job, { overview, runs, isMissing, conditions }));
  return {
    job: job.name,
    ...(address === undefined ? {} : { instance: address.instance }),
    ...(shown === undefined ? {} : { shows_as_of: shown }),
    ...(overview.isInDoubt(job) ? { in_doubt: true } : {}),
    ...withWarnings(
      withSkip(judgement, skip !== undefined && skip.noted_at >= (runs[0]?.started_at ?? 0) ? skip : undefined),
      runs.find(({ state }) => state !== 'running'),
    ),
  };
}

/** Adds the firings that were skipped since the last run began, whatever the verdict is. */
function withSkip(judgement: RuleResult, skip: SkipRow | undefined): RuleResult {
  if (skip === undefined) return judgement;
  return { ...judgement, because: [skippedFiring(skip), ...judgement.because] };
}

/** Adds the last run's warnings. Uses the first warning's fix unless there's a more urgent fix. */
function withWarnings(judgement: RuleResult, last: RunRow | undefined): RuleResult {
  if (last === undefined || last.warnings === null) return judgement;
  const fix = judgement.fix ?? warningsOf(last).find(({ next }) => next !== undefined)?.next;
  const because = [...judgement.because, ...warningLinks(last)];
  return { ...judgement, because, ...(fix === undefined ? {} : { fix }) };
}

function factsOf(
  job: Job,
  {
    overview,
    runs,
    isMissing,
    conditions,
  }: {
    overview: Overview;
    runs: readonly RunRow[];
    isMissing: boolean;
    conditions: readonly Condition[];
  },
): Facts {
  const { now, daemon } = overview;
  const running = overview.runningSince(job.name);
  const nextAt = overview.nextRun(job);
  const hold = overview.hold(job.name);
  const attempt = overview.nextAttempt(job.name);
  const throttle = overview.throttle(job.name);
  const quotaUntil = overview.quotaUntil(job);
  const silence = overview.silence(job);
  return {
    job,
    now,
    runs,
    conditions,
    waiting: overview.waitingOf(job.name),
    ...(running === undefined ? {} : { runningSince: running }),
    ...(daemon === undefined ? {} : { daemonSince: daemon.takenAt }),
    ...(daemon?.stopped === undefined ? {} : { stopped: daemon.stopped }),
    ...(nextAt === undefined ? {} : { nextAt }),
    ...(hold === undefined ? {} : { hold }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(throttle === undefined ? {} : { throttle }),
    ...(quotaUntil === undefined ? {} : { quotaUntil }),
    ...(silence === undefined ? {} : { silence }),
    ...(isMissing ? { missing: 'sluice apply --yes' } : {}),
  };
}
