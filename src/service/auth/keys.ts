import { hash, randomBytes } from 'node:crypto';

/** A new API key: 40 lowercase hex characters. The key is shown only once and never stored. */
export function newKey(): string {
  return randomBytes(20).toString('hex');
}

/** The hash of an API key, as stored. Keys are long and random, so plain SHA-256 is enough; passwords need scrypt. */
export function hashKey(key: string): Buffer {
  return Buffer.from(hexHashOf(key), 'hex');
}

/** Like {@link hashKey}, as 64 hex characters. */
export function hexHashOf(key: string): string {
  return hash('sha256', key, 'hex');
}
