import { isUnwritable } from '../../state/engine/state-problem.ts';
import type { Runtime } from '../compose.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { busyRestMs, maxBusyMs } from './busy-runs.ts';

/** A try to run a job: `later` if the job was busy, `again` if another process has interrupted the firing's run. */
export type UnqueuedTry = 'first' | 'later' | 'again';

interface UnqueuedRunOptions {
  readonly runtime: Pick<Runtime, 'store' | 'clock'>;
  readonly run: (tried: UnqueuedTry) => Promise<RunOutcome>;
  /** Aborted when the run must end. */
  readonly signal: AbortSignal;
  /** Aborted when this process stops planning. */
  readonly stop: AbortSignal;
}

/**
 * Runs a job in the planner's process by the rules for runs in the queue. If the job is busy, waits for it, because the
 * process that runs it may be dead. If another process considered this one dead and interrupted the run, begins it again
 * once. Resolves to undefined if this process stops planning while it waits: the next planner fires the firing.
 */
export async function runUnqueued({ runtime, run, signal, stop }: UnqueuedRunOptions): Promise<RunOutcome | undefined> {
  const { store, clock } = runtime;
  let tried: UnqueuedTry = 'first';
  for (let waitedMs = 0; ; ) {
    const outcome = await run(tried);
    if (outcome.state === 'busy' && waitedMs < maxBusyMs) {
      await clock.sleep(busyRestMs, signal).catch(() => undefined);
      if (stop.aborted) return undefined;
      if (signal.aborted) return outcome;
      waitedMs += busyRestMs;
      if (tried === 'first') tried = 'later';
    } else if (tried === 'again' || !(await wasInterrupted(store, outcome))) {
      return outcome;
    } else tried = 'again';
  }
}

/** Whether another process ended the run while it was in progress here. */
async function wasInterrupted({ runs }: Runtime['store'], { state, run, problem }: RunOutcome): Promise<boolean> {
  // Without the state, this can't be looked up, and the firing is repeated when the state is available again.
  if (state !== 'failed' || run === undefined || isUnwritable(problem)) return false;
  return (await runs.find(run))?.state === 'interrupted';
}
