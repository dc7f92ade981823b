import { createHash } from 'node:crypto';

/**
 * Deterministic jitter: the delay of a job within `spread`, in milliseconds (whole seconds). Depends on the job's name only; names are
 * distributed evenly.
 */
export function offsetOf(job: string, spread: number): number {
  const seconds = Math.floor(spread / 1000);
  if (seconds < 2) return 0;
  const hash = createHash('sha256').update(job).digest();
  return (hash.readUIntBE(0, 6) % seconds) * 1000;
}
