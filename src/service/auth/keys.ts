import { createHash, randomBytes } from 'node:crypto';

/** A fresh API key: 40 lowercase hex characters. Shown once, never stored. */
export function newKey(): string {
  return randomBytes(20).toString('hex');
}

/** What is stored of a key. A key is random and long, so one plain SHA-256 is enough; passwords get scrypt. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}
