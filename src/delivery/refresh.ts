import { Problem } from '../lib/problem.ts';
import { redact } from '../lib/redact.ts';
import { asObject } from './answer.ts';
import { DestinationClient } from './client.ts';
import type { Gateway } from './gateway.ts';
import type { SendGate } from './send-gate.ts';
import type { Priority } from './send-queue.ts';

/** A data source that the service didn't queue, and why. */
export interface RefreshFailure {
  readonly id: string;
  readonly error: string;
  readonly status: number;
}

export interface RefreshResult {
  readonly requested: number;
  /** Number of instances that the service queued for a refresh. */
  readonly queued: number;
  readonly failed: readonly RefreshFailure[];
  /** Whether the service reported that the whole request failed. */
  readonly refused: boolean;
  /** `REFRESH_PARTIAL` if the service refused some data sources, `REFRESH_FAILED` if it refused all of them. */
  readonly problem?: Problem;
}

export interface RefreshOptions {
  readonly gateway: Gateway;
  readonly gate: SendGate;
  readonly datasources: readonly string[];
  readonly clientId?: string;
  readonly priority: Priority;
  readonly rank?: number;
  readonly signal: AbortSignal;
  /** The run that the request is counted for. */
  readonly run?: string;
}

/**
 * Asks the service to refresh data sources. The service returns 200 even if it refused some of them; only those count
 * as failed. A refresh is idempotent, so a request without a response is repeated.
 */
export async function refreshDatasources(given: RefreshOptions): Promise<RefreshResult> {
  const { gateway, gate, datasources, clientId } = given;
  const body = { datasources, ...(clientId === undefined ? {} : { client_id: clientId }) };
  const { data } = await new DestinationClient(given).call('POST', '/datasources/@/refresh', {
    body,
    repeatable: true,
  });
  const failed = failuresOf(data);
  const queued = typeof data.total_instances_queued === 'number' ? data.total_instances_queued : 0;
  const requested = datasources.length;
  const destination = gate.destination.name;
  if (failed.length > 0) gateway.emit('refresh.failed', { destination, requested, failed });
  if (failed.length < requested) gateway.emit('refresh.queued', { destination, requested, queued });
  return finished({ requested, queued, failed, refused: data.success === false }, destination);
}

/** Returns the part of a shared request's result that concerns the given data sources. */
export function resultFor(datasources: readonly string[], whole: RefreshResult, destination: string): RefreshResult {
  const own = new Set(datasources);
  const failed = whole.failed.filter(({ id }) => own.has(id));
  // If the response names the data sources that failed, the others count as queued even if the request failed.
  const refused = whole.refused && whole.failed.length === 0;
  const requested = own.size;
  const queued = requested === whole.requested ? whole.queued : requested - failed.length;
  return finished({ requested, queued, failed, refused }, destination);
}

function finished(result: Omit<RefreshResult, 'problem'>, destination: string): RefreshResult {
  const problem = refreshProblem({ ...result, destination });
  return { ...result, ...(problem === undefined ? {} : { problem }) };
}

function failuresOf(data: Readonly<Record<string, unknown>>): RefreshFailure[] {
  const invalid = asObject(asObject(data.failed_results)?.invalid_datasources) ?? {};
  return Object.entries(invalid).map(([id, entry]) => {
    const { error, status } = asObject(entry) ?? {};
    return {
      id,
      error: redact(typeof error === 'string' ? error : 'no reason given'),
      status: typeof status === 'number' ? status : 0,
    };
  });
}

function refreshProblem(given: {
  requested: number;
  failed: readonly RefreshFailure[];
  refused: boolean;
  destination: string;
}): Problem | undefined {
  const { requested, failed, refused, destination } = given;
  if (failed.length === 0 && !refused) return undefined;
  const all = failed.length === 0 || failed.length >= requested;
  const shown = failed.slice(0, 5).map(({ id, error }) => `${id} (${error})`);
  if (failed.length > shown.length) shown.push(`and ${failed.length - shown.length} more`);
  return new Problem({
    code: all ? 'REFRESH_FAILED' : 'REFRESH_PARTIAL',
    family: 'job',
    message: all
      ? 'The service refused to refresh any of the data sources'
      : `The service refused to refresh ${failed.length} of ${requested} data sources; the others are queued`,
    where: { destination, stage: 'refresh' },
    seen: shown.length === 0 ? 'no details' : shown.join(', '),
    next: "check the IDs in the job's target",
  });
}
