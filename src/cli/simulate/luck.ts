import { createHash } from 'node:crypto';

/**
 * A number from 0 to below 1 that is the same for the same words and seed, whatever was asked before: what happens to one
 * job does not depend on how many others there are.
 */
export function luckOf(seed: number, ...words: readonly (string | number)[]): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([seed, ...words]))
    .digest();
  return hash.readUIntBE(0, 6) / 2 ** 48;
}
