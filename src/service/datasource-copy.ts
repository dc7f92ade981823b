import { newId } from '../lib/ids.ts';
import { createInstances, sourceProperties } from './datasource-instancing.ts';
import type { ApiCall } from './endpoint.ts';
import { asShared, type Datasource, insertDatasource } from './store/datasources.ts';
import { canSee } from './store/shares.ts';

/**
 * Copies a data source into another account: what it is and how it connects, never its data, which is the data of
 * the account that it was fetched or pushed for. The caller owns the copy only where they see the original: its
 * properties may hold credentials. Returns the id of the copy.
 */
export function copyDatasource({ context, caller }: ApiCall, source: Datasource, accountId: string): string {
  const properties = sourceProperties(context.db, source);
  const copy = {
    id: newId(),
    accountId,
    name: source.name,
    description: source.description,
    connector: source.connector,
    format: source.format,
    refreshInterval: source.refreshInterval,
    noRefresh: source.noRefresh,
    properties: JSON.stringify(properties),
    createdBy: canSee(context.db, asShared(source), caller) ? caller.user.id : null,
    createdAt: context.clock.now(),
  };
  return createInstances(context.db, { source: copy, properties }, insertDatasource).id;
}
