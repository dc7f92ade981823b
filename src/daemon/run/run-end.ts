import { Problem, toProblem } from '../../lib/problem.ts';
import type { RetryRow } from '../../state/tables.ts';
import type { Runtime } from '../compose.ts';
import { sealHandedOn } from '../retry/handed-on.ts';
import { placeOf, type RunOptions } from './run-options.ts';
import type { RunFigures, RunStage } from './run-outcome.ts';

const stopped = { code: 'RUN_STOPPED', message: 'The run was stopped before its payload was complete' };

/** In one transaction, ends an attempt that threw an error: the run is stopped, fails, or gets another attempt. */
export async function endFailed(given: RunOptions, run: string, thrown: unknown): Promise<RunStage> {
  const { runtime, signal } = given;
  // If the installed package was replaced during the run, the replacement is the cause of any error. In this case, the
  // daemon stops, and the signal's reason says why.
  runtime.installation?.look();
  if (signal.aborted) return endStopped(given, run);
  const problem = toProblem(thrown, { code: 'RUN_THREW', family: 'bug' }).at(placeOf(given));
  await noteRefusal(given, problem);
  const follow = given.attempt?.after(run, problem) ?? {};
  if (follow.row !== undefined) {
    const row = { ...follow.row, facts: await sealHandedOn(given, run) };
    if (await planNext(given, { problem, row })) return { state: 'retrying', problem, until: row.next_at, retry: row };
  }
  const why = 'why' in follow ? follow.why : undefined;
  const finalProblem = why === undefined ? problem : problem.with({ message: `${problem.message}; ${why}` });
  await runtime.store.settle(run, async (parts) => {
    await parts.runs.finish(run, { state: 'failed', problem: finalProblem });
    await given.failed?.(parts, finalProblem);
  });
  return { state: 'failed', problem: finalProblem };
}

/**
 * Records that the source refused the login. The refusal may come as late as the first row, or later in the run, after
 * the login was accepted.
 */
async function noteRefusal({ runtime: { loginGate }, job: { extract } }: RunOptions, problem: Problem): Promise<void> {
  if (extract === undefined || !problem.isLoginRefused) return;
  if ((await loginGate.find(extract.source)) === undefined) await loginGate.refused(extract.source, problem);
}

/**
 * If the daemon's shutdown stopped an attempt, the attempt doesn't count, and its run continues after the next start.
 */
async function endStopped(given: RunOptions, run: string): Promise<RunStage> {
  const { signal, runtime } = given;
  const why = signal.reason instanceof Problem ? signal.reason.at(placeOf(given)) : undefined;
  const isReplaced = why?.code === 'RUN_CANCELLED';
  const facts = await sealHandedOn(given, run);
  await runtime.store.settle(run, async (parts) => {
    const { runs, retries } = parts;
    if (!isReplaced && (await retries.stopped(run, facts))) return;
    const isOurs = (await runs.find(run))?.state === 'running';
    await runs.finish(run, { state: 'interrupted', problem: why ?? stopped });
    if (isOurs && !isReplaced) await given.stopped?.(parts);
  });
  return { state: 'stopped', problem: why };
}

/** Plans the retry. Returns false if the run was charged for a request: a retry must not send the same data again. */
async function planNext(
  { runtime: { store }, attempt }: RunOptions,
  { problem, row }: { problem: Problem; row: RetryRow },
): Promise<boolean> {
  let isPlanned = true;
  // The store retries this write: if a disk error made the run fail, the run must not also be left in the state
  // `running`.
  await store.settle(row.run, async ({ retries }) => {
    isPlanned = await retries.plan(row.run, problem, attempt?.isKept === true ? row : undefined);
  });
  return isPlanned;
}

interface EndedAttempt extends RunFigures {
  readonly job: string;
  readonly run: string;
  readonly attempt: number;
  /** Time from the start of the run's first attempt to the start of this one. */
  readonly waitedMs: number;
}

/** Emits the end of a run or, if another attempt follows, only the end of the attempt. */
export function emitRunEnd(
  { emit }: Runtime['events'],
  { problem, state, until: at }: RunStage,
  { attempt, waitedMs, ...ended }: EndedAttempt,
): void {
  const failure = problem && { code: problem.code, message: problem.message, next: problem.next };
  if (state === 'retrying' && failure !== undefined && at !== undefined) {
    const { job, run, milliseconds } = ended;
    emit('run.retrying', { job, run, attempt, at, milliseconds, ...failure });
  } else {
    const milliseconds = ended.milliseconds + Math.max(0, waitedMs);
    const attempts = attempt === 1 ? {} : { attempts: attempt };
    emit('run.finished', { ...ended, milliseconds, ...attempts, outcome: state, ...failure });
  }
}
