import { createHash } from 'node:crypto';

/**
 * Returns a pseudorandom number in [0, 1) that depends only on the seed and the words. Earlier calls don't affect the
 * result, so a job's behavior doesn't depend on how many other jobs there are.
 */
export function randomOf(seed: number, ...words: readonly (string | number)[]): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([seed, ...words]))
    .digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}
