import { createHash } from 'node:crypto';

/**
 * Deterministic jitter: a job's delay within `spread`, in milliseconds (whole seconds). It depends only on the job's
 * name, and jobs are distributed evenly.
 */
export function offsetOf(job: string, spread: number): number {
  const seconds = Math.floor(spread / 1000);
  return seconds < 2 ? 0 : (hashOf(job) % seconds) * 1000;
}

/** A number in [0, 1) derived from a string: pseudorandom, but stable across restarts and simulations. */
export function shareOf(text: string): number {
  return hashOf(text) / 2 ** 48;
}

/** 48 bits. */
function hashOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
