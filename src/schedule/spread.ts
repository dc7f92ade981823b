import { createHash } from 'node:crypto';

/**
 * A job's share of a spread: the milliseconds, whole seconds below `spread`, by which it fires later than the calendar says.
 * The same for the same name, everywhere and for ever; names share a spread out evenly.
 */
export function offsetOf(job: string, spread: number): number {
  const seconds = Math.floor(spread / 1000);
  if (seconds < 2) return 0;
  const hash = createHash('sha256').update(job).digest();
  return (hash.readUIntBE(0, 6) % seconds) * 1000;
}
