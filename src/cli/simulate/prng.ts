import { createHash } from 'node:crypto';

/**
 * A pseudorandom number in [0, 1) that depends only on the seed and the words. Since earlier calls don't affect it, one
 * job's behavior doesn't depend on the number of other jobs.
 */
export function randomOf(seed: number, ...words: readonly (string | number)[]): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([seed, ...words]))
    .digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}
