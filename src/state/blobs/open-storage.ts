import type { StateDatabase } from '../engine/state-database.ts';
import type { BlobStorage } from './blob-storage.ts';
import { databaseStorage } from './database-storage.ts';
import { FolderStorage } from './folder-storage.ts';

/** Opens the storage of the blobs of a state in a database. */
export function openStorage({ payloadsFolder }: Pick<StateDatabase, 'payloadsFolder'>): BlobStorage {
  return payloadsFolder === undefined ? databaseStorage : new FolderStorage(payloadsFolder);
}
