import PQueue from 'p-queue';
import type { Config, Job } from '../../config/config.ts';
import { jobsReadBy } from '../../config/read-jobs.ts';
import { deliverRows, resendDue } from '../../delivery/deliver.ts';
import { rankOfPriority } from '../../delivery/importance.ts';
import { RefreshBatcher } from '../../delivery/refresh-batcher.ts';
import type { RetryRow } from '../../state/tables.ts';
import type { Runtime } from '../compose.ts';
import { type Attempt, attemptOf } from '../retry/attempt.ts';
import { SyncAttempts } from '../retry/sync-attempts.ts';
import { runJob } from './run-job.ts';
import type { RunOptions } from './run-options.ts';
import type { RunOutcome } from './run-outcome.ts';

export interface SyncJobsOptions {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly jobs: readonly Job[];
  readonly signal: AbortSignal;
  readonly patienceMs: number;
  /** Whether to also send payloads of jobs that are no longer in the config, which no other command would send. */
  readonly isAll?: boolean;
}

/**
 * Runs each job once, by priority, and delivers the payloads. A job that reads other jobs' rows runs after those jobs,
 * even if they fail. Retries reads, logins and deliveries after transient errors for up to `patienceMs`. Then sends the
 * payloads that earlier runs of these jobs left in the outbox. Returns one outcome per job, in the given order.
 */
export async function syncJobs(given: SyncJobsOptions): Promise<RunOutcome[]> {
  const { runtime, config, jobs, signal, patienceMs } = given;
  const deliverUntil = runtime.clock.now() + patienceMs;
  const queue = new PQueue({ concurrency: config.concurrency, autoStart: false });
  // Jobs that may block the process run after all others, one at a time.
  const suspects = new PQueue({ concurrency: 1, autoStart: false });
  const desk = new RefreshBatcher();
  const attempts = new SyncAttempts({ clock: runtime.clock, signal });
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const running = new Map<string, Promise<RunOutcome>>();
  const runOf = (job: Job): Promise<RunOutcome> => {
    const known = running.get(job.name);
    if (known !== undefined) return known;
    const before = jobsReadBy(job).flatMap((one) => byName.get(one.job) ?? []);
    const run = before.length === 0 ? start(job) : Promise.allSettled(before.map(runOf)).then(() => start(job));
    running.set(job.name, run);
    return run;
  };
  const start = (job: Job): Promise<RunOutcome> => {
    const given = { runtime, config, job, origin: 'person', signal, deliverUntil } as const;
    const priority = rankOfPriority(job.priority);
    if (runtime.healed.suspects.has(job.name)) return suspects.add(() => runJob(given));
    if (job.extract !== undefined) {
      return runAgainAndAgain(given, attempts, (attempt) =>
        queue.add(() => runJob({ ...given, attempt }), { priority }),
      );
    }
    const seat = desk.join();
    return runJob({ ...given, seat }).finally(() => seat.cancel());
  };
  const runs = jobs.map(runOf);
  queue.start();
  void queue.onIdle().then(() => suspects.start());
  const outcomes = await Promise.all(runs);
  await sendLeftovers({ ...given, outcomes });
  return outcomes;
}

/** Maximum wait before the first retry. A person at a keyboard won't wait as long as a daemon. */
const maxFirstWaitMs = 5_000;
const maxWaitMs = 30_000;

/**
 * Runs a job until its source can be read. Follows the job's `retry` rule, but with shorter waits. The last attempt
 * begins before `deliverUntil`.
 */
async function runAgainAndAgain(
  { runtime, job, deliverUntil }: RunOptions & { readonly deliverUntil: number },
  attempts: SyncAttempts,
  run: (attempt: Attempt | undefined) => Promise<RunOutcome>,
): Promise<RunOutcome> {
  const { clock, store } = runtime;
  const { retry: rule } = job;
  const hurried = rule && {
    ...rule,
    firstMs: Math.min(rule.firstMs, maxFirstWaitMs),
    longestMs: Math.min(rule.longestMs, maxWaitMs),
  };
  const firedAt = Math.round(clock.now());
  const now = (): number => clock.now();
  const given = { now, firedAt, isKept: false, deadline: deliverUntil };
  let began: number | undefined;
  // The duration includes all attempts and the waits between them.
  const whole = (outcome: RunOutcome): RunOutcome =>
    began === undefined ? outcome : { ...outcome, milliseconds: clock.monotonic() - began };
  for (let row: RetryRow | undefined; ; ) {
    const outcome = await run(
      attemptOf({ ...given, row, job: hurried === undefined ? job : { ...job, retry: hurried } }),
    );
    attempts.ended(job, outcome);
    // Another process is running the job or put it on hold, so this run has no more attempts.
    if (row !== undefined && outcome.run === undefined) await store.retries.giveUp(row.run);
    row = outcome.retry;
    if (row === undefined) return whole(outcome);
    began ??= clock.monotonic() - outcome.milliseconds;
    const end = await attempts.wait(job, row);
    if (end === 'over' || end === 'stopped') {
      await store.retries.giveUp(row.run);
      return whole({ ...outcome, state: end === 'stopped' ? 'stopped' : 'failed' });
    }
    row = end;
  }
}

/**
 * Also sends payloads from earlier runs. Even if a run fails, its job may owe a payload that is newer than the
 * instance's data.
 */
async function sendLeftovers(
  given: Omit<SyncJobsOptions, 'patienceMs'> & { readonly outcomes: readonly RunOutcome[] },
): Promise<void> {
  const { runtime, config, jobs, signal, outcomes } = given;
  const { store, gateway } = runtime;
  if (signal.aborted) return;
  const names = new Set(jobs.map(({ name }) => name));
  const tried = new Set(outcomes.map(({ run }) => run));
  // The process that is running the job sends all of that job's pending payloads.
  const busy = new Set(outcomes.flatMap(({ job, state }) => (state === 'busy' ? [job] : [])));
  const isOurs = (job: string): boolean => names.has(job) || (given.isAll === true && !config.jobs.has(job));
  const owed = (await store.outbox.inState('owed')).filter(
    ({ job, run }) => isOurs(job) && !busy.has(job) && !tried.has(run),
  );
  const sending = { gateway, signal, priority: 'person' } as const;
  await deliverRows(owed, sending);
  await resendDue({ ...sending, isOurs: (job) => isOurs(job) && !busy.has(job) });
}
