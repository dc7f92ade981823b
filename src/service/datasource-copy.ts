import { newId } from '../lib/ids.ts';
import { createInstances, sourceProperties } from './datasource-instancing.ts';
import type { ApiCall } from './endpoint.ts';
import { asShared, type Datasource, insertDatasource } from './store/datasources.ts';
import { canSee } from './store/shares.ts';

/**
 * Copies a data source's definition to another account. Doesn't copy the data, because it was fetched or pushed for the
 * original account. The caller becomes the copy's owner only if they may see the original, because its properties may
 * contain credentials. Returns the ID of the copy.
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
