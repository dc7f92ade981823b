import { Type } from 'typebox';
import { findDatasource } from '../datasource-rules.ts';
import type { ApiCall } from '../endpoint.ts';
import { ApiError, forbidden } from '../http/api-error.ts';
import { canonicalId } from '../http/canonical-id.ts';
import { defineModel } from '../model.ts';
import type { Datasource } from '../store/datasources.ts';
import { instancesOf } from '../store/instances.ts';

const failure = defineModel('RefreshFailure', {
  error: Type.String(),
  status: Type.Integer(),
  success: Type.Literal(false),
});

export const bulkRefreshAnswer = defineModel('RefreshResult', {
  op_requested: Type.Literal('refresh'),
  success: Type.Boolean(),
  total_datasources_requested: Type.Integer(),
  total_instances_requested: Type.Integer(),
  queue_status: Type.Integer(),
  total_instances_queued: Type.Integer(),
  failed_results: Type.Optional(
    Type.Object({ description: Type.String(), invalid_datasources: Type.Record(Type.String(), failure) }),
  ),
});

interface Failure {
  readonly error: string;
  readonly status: number;
  readonly success: false;
}

/** Queues all instances that can be queued, and reports an error for each of the others. */
export function bulkRefresh(call: ApiCall, requested: readonly string[]): object {
  const failed = new Map<string, Failure>();
  const sources = [...new Set(requested.map(canonicalId))].flatMap((id) => refreshable(call, id, failed));
  const instances = sources.map((source) => ({
    source,
    ids: instancesOf(call.context.db, source.id).map(({ id }) => id),
  }));
  const queued = instances.filter(({ source }) => source.noRefresh === 0).flatMap(({ ids }) => ids);
  call.context.refreshes.request(queued);
  return {
    op_requested: 'refresh',
    success: failed.size === 0,
    total_datasources_requested: requested.length,
    total_instances_requested: instances.flatMap(({ ids }) => ids).length,
    queue_status: failed.size === 0 ? 200 : 207,
    total_instances_queued: queued.length,
    ...(failed.size === 0 ? {} : { failed_results: describeFailures(failed) }),
  };
}

function refreshable(call: ApiCall, id: string, failed: Map<string, Failure>): Datasource[] {
  try {
    const source = findDatasource(call, id);
    if (source.disabled === 1) throw forbidden(`Data source is disabled: ${id}`);
    return [source];
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown;
    failed.set(id, { error: thrown.message, status: thrown.status, success: false });
    return [];
  }
}

function describeFailures(failed: ReadonlyMap<string, Failure>): object {
  return {
    description: 'Some datasources/instances failed to queue.',
    invalid_datasources: Object.fromEntries(failed),
  };
}
