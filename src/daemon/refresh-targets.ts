import { refreshDatasources } from '../delivery/refresh.ts';
import type { RunGiven, Stage } from './run-job.ts';

/** The run of a job that pulls nothing: one bulk refresh, and what the service said to each data source. */
export async function refreshTargets({ runtime, job, origin, signal }: RunGiven, run: string): Promise<Stage> {
  const { target, destination } = job;
  if (target.kind !== 'refresh') throw new Error(`job ${job.name} has neither an extract nor data sources to refresh`);
  const { gateway, store } = runtime;
  const clientId = target.clientId ?? destination.clientId;
  const { problem } = await refreshDatasources({
    gateway,
    gate: gateway.of(destination),
    datasources: target.datasources,
    ...(clientId === undefined ? {} : { clientId }),
    priority: origin,
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
