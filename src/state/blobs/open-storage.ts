import type { Kysely } from 'kysely';
import type { StateDatabase } from '../engine/state-database.ts';
import { WriteHealth } from '../engine/write-health.ts';
import type { Tables } from '../tables.ts';
import type { BlobBackend, BlobStorage } from './blob-storage.ts';
import { databaseStorage } from './database-storage.ts';
import { FolderStorage } from './folder-storage.ts';
import { stateIdFinder } from './state-id.ts';
import { watchedStorage } from './watched-storage.ts';

/** Opens the storage of the blobs of a state in a database. */
export async function openBackend(db: Kysely<Tables>, database: StateDatabase): Promise<BlobBackend> {
  const health = new WriteHealth();
  return { db, health, storage: watchedStorage(await openStorage(database), health) };
}

/** The code for buckets is loaded only if they're used. */
async function openStorage({ payloadsFolder, payloadsBucket }: StateDatabase): Promise<BlobStorage> {
  const findId = stateIdFinder();
  if (payloadsBucket !== undefined) {
    const { BucketStorage } = await import('./bucket-storage.ts');
    return new BucketStorage(payloadsBucket, findId);
  }
  return payloadsFolder === undefined ? databaseStorage : new FolderStorage(payloadsFolder, findId);
}
