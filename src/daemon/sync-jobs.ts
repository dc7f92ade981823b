import PQueue from 'p-queue';
import type { Config, Job } from '../config/config.ts';
import { concurrencyDefault } from '../config/schedule-options.ts';
import { deliverOwed, repeatDue } from '../delivery/deliver.ts';
import { rankOfPriority } from '../delivery/importance.ts';
import { RefreshDesk } from '../delivery/refresh-desk.ts';
import type { Outcome } from './outcome.ts';
import { runJob } from './run-job.ts';
import type { Runtime } from './wire.ts';

/**
 * Runs jobs once, the important ones first, and delivers what they make, retries included as long as they come due within `patienceMs` of now.
 * Then sends what earlier runs of the same jobs still owe. One outcome a job, in the order given.
 */
export async function syncJobs(given: {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly jobs: readonly Job[];
  readonly signal: AbortSignal;
  readonly patienceMs: number;
  /** Send also what jobs owe that the config does not have any more: no other command of this kind would. */
  readonly isAll?: boolean;
}): Promise<Outcome[]> {
  const { runtime, config, jobs, signal, patienceMs } = given;
  const deliverUntil = runtime.clock.now() + patienceMs;
  const queue = new PQueue({ concurrency: config.concurrency ?? concurrencyDefault, autoStart: false });
  // Jobs that may block the process come after all others, one at a time.
  const suspects = new PQueue({ concurrency: 1, autoStart: false });
  const desk = new RefreshDesk();
  const runs = jobs.map((job) => {
    const given = { runtime, config, job, origin: 'person', signal, deliverUntil } as const;
    if (runtime.healed.suspects.has(job.name)) return suspects.add(() => runJob(given));
    if (job.extract !== undefined) return queue.add(() => runJob(given), { priority: rankOfPriority(job.priority) });
    const seat = desk.sit();
    return runJob({ ...given, seat }).finally(() => seat.leave());
  });
  queue.start();
  void queue.onIdle().then(() => suspects.start());
  const outcomes = await Promise.all(runs);
  await sendLeftovers({ ...given, outcomes });
  return outcomes;
}

/** A run that failed leaves an older payload of its job owed: that one is still newer than what the instance shows. */
async function sendLeftovers(given: {
  readonly runtime: Runtime;
  readonly config: Config;
  readonly jobs: readonly Job[];
  readonly signal: AbortSignal;
  readonly outcomes: readonly Outcome[];
  readonly isAll?: boolean;
}): Promise<void> {
  const { runtime, config, jobs, signal, outcomes } = given;
  const { store, gateway, clock, events } = runtime;
  if (signal.aborted) return;
  const names = new Set(jobs.map(({ name }) => name));
  const tried = new Set(outcomes.map(({ run }) => run));
  // Whoever runs the job now sends what it makes and what it finds.
  const busy = new Set(outcomes.flatMap(({ job, state }) => (state === 'busy' ? [job] : [])));
  const isOurs = (job: string): boolean => names.has(job) || (given.isAll === true && !config.jobs.has(job));
  const owed = (await store.outbox.inState('owed')).filter(
    ({ job, run }) => isOurs(job) && !busy.has(job) && !tried.has(run),
  );
  const destinations = config.destinations.values();
  const sending = { store, gateway, destinations, clock, emit: events.emit, signal, priority: 'person' } as const;
  if (owed.length > 0) await deliverOwed({ ...sending, only: owed.map(({ id }) => id) });
  await repeatDue({ ...sending, isOurs: (job) => isOurs(job) && !busy.has(job) });
}
