import { forbidden, notFound } from '../http/api-error.ts';
import { requireMet, type WriteConditions } from '../http/etag.ts';
import type { Database } from '../store/database.ts';
import { datasourceById } from '../store/datasources.ts';
import { etagOf, instanceById, showData } from '../store/instances.ts';
import type { Blobs } from './blobs.ts';
import type { ReceivedDocument } from './receive.ts';

interface PublishOptions {
  readonly db: Database;
  readonly blobs: Blobs;
  readonly now: number;
  readonly conditions?: WriteConditions;
}

/**
 * Replaces an instance's document in one transaction, which is durable when this function returns. If the service
 * crashes before the commit, the instance keeps the old data; after the commit, it has the new data. In both cases, the
 * crash orphans one document, which the sweep at the next start removes.
 */
export async function publish(
  { db, blobs, now, conditions = {} }: PublishOptions,
  instanceId: string,
  received: ReceivedDocument,
): Promise<void> {
  try {
    const old = db.durably(() => swap(db, instanceId, { received, now, conditions }));
    if (old !== null) await blobs.remove(old);
  } catch (thrown) {
    await blobs.remove(received.blob);
    throw thrown;
  }
}

/**
 * Sets the instance's document and returns the name of the old one. Throws if the instance was deleted or disabled
 * during the upload, or if a condition isn't met.
 */
function swap(
  db: Database,
  instanceId: string,
  { received, now, conditions }: { received: ReceivedDocument; now: number; conditions: WriteConditions },
): string | null {
  const instance = instanceById(db, instanceId);
  if (instance === undefined) throw notFound(`Data source instance not found: ${instanceId}`);
  if (datasourceById(db, instance.datasourceId)!.disabled === 1) throw forbidden('The data source is disabled');
  requireMet(conditions, etagOf(instance));
  showData(db, instanceId, received, now);
  return instance.blob;
}
