import type { BlobBackend } from '../blobs/blob-storage.ts';
import { checkStorage } from '../blobs/watched-storage.ts';
import type { ProcessHeartbeats } from './heartbeats.ts';
import type { HeartbeatTimes } from './processes.ts';

/**
 * Sends heartbeats until the store is closed. Only processes that can't read this machine's process table need them.
 * Also notices when a storage of blobs is available again.
 */
export function keepBeating(owners: ProcessHeartbeats, { everyMs }: HeartbeatTimes, blobs?: BlobBackend): () => void {
  let isChecking = false;
  const beat = (): void => {
    void owners.beat().catch(() => undefined);
    if (blobs?.health.problem === undefined || isChecking) return;
    isChecking = true;
    const done = (): void => {
      isChecking = false;
    };
    checkStorage(blobs).then(done, done);
  };
  const timer = setInterval(beat, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
