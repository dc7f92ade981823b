import { isUnwritable } from '../engine/state-problem.ts';
import type { WriteHealth } from '../engine/write-health.ts';
import type { BlobBackend, BlobStorage } from './blob-storage.ts';

/** Records in `health` whether a storage outside of the database works. */
export function watchedStorage(storage: BlobStorage, health: WriteHealth): BlobStorage {
  if (storage.isInDatabase) return storage;
  const refuse = (error: unknown): never => {
    if (isUnwritable(error)) health.refused(error);
    throw error;
  };
  return {
    label: storage.label,
    place: storage.place,
    isInDatabase: false,
    ...(storage.claims === undefined ? {} : { claims: storage.claims }),
    async write(blob, pieces) {
      await storage.write(blob, pieces).catch(refuse);
      health.written();
    },
    async *read(blob) {
      try {
        yield* storage.read(blob);
      } catch (error) {
        refuse(error);
      }
    },
    async remove(blob) {
      await storage.remove(blob).catch(refuse);
    },
    close: async () => storage.close?.(),
  };
}

/** Checks whether a storage is available. If it wasn't before, makes a small write to find out whether it is now. */
export async function checkStorage({ storage: { claims }, db, health }: BlobBackend): Promise<void> {
  if (claims === undefined) return;
  try {
    const isClaimed = await claims.isClaimed(db);
    if (health.problem === undefined || !isClaimed) return;
    await claims.claim(db);
    health.written();
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    health.refused(error);
  }
}
