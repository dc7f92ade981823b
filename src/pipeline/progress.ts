import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import type { PipelineEvents } from './events.ts';
import type { StreamProgress } from './stream-rows.ts';

/** Minimum interval between reports. Four per second are enough for people. */
const intervalMs = 250;

export interface ProgressReporterOptions {
  readonly clock: Clock;
  readonly emit: Emit<PipelineEvents>;
  readonly job: string;
  readonly run: string;
}

/** Reports progress at most every 250 ms, except for the `last` report. */
export function progressReporter({
  clock,
  emit,
  job,
  run,
}: ProgressReporterOptions): (carried: StreamProgress, last?: boolean) => void {
  let spoken = clock.monotonic();
  return ({ rowsRead, bytes }, last = false) => {
    const now = clock.monotonic();
    if (!last && now - spoken < intervalMs) return;
    spoken = now;
    emit('extract.progressed', { job, run, rows: rowsRead, bytes });
  };
}
