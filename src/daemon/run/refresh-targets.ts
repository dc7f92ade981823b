import { clientOf } from '../../config/config.ts';
import { rankOfPriority } from '../../delivery/importance.ts';
import { RefreshBatcher } from '../../delivery/refresh-batcher.ts';
import type { RunOptions } from './run-options.ts';
import type { RunStage } from './run-outcome.ts';

/**
 * Runs a job that has no extract: a bulk refresh, batched with those of other jobs. Returns the result for the job's
 * own targets.
 */
export async function refreshTargets(
  { runtime, job, origin, signal, seat }: RunOptions,
  run: string,
): Promise<RunStage> {
  const { target, destination } = job;
  if (target.kind !== 'refresh') throw new Error(`job ${job.name} has no extract and no data sources to refresh`);
  const { gateway, store } = runtime;
  const { problem } = await (seat ?? new RefreshBatcher().join()).refresh({
    gateway,
    gate: gateway.of(destination),
    datasources: target.datasources,
    ...clientOf(job),
    priority: origin,
    rank: rankOfPriority(job.priority),
    signal,
    run,
  });
  if (problem === undefined) {
    await store.runs.finish(run, { state: 'refreshed' });
    return { state: 'refreshed' };
  }
  const placed = problem.at({ job: job.name });
  await store.runs.finish(run, { state: 'failed', problem: placed });
  return { state: 'failed', problem: placed };
}
