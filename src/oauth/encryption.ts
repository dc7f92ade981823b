import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Problem } from '../lib/problem.ts';
import type { EncryptionKeys } from './keys.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** An encrypted string and the ID of its key. */
export interface EncryptedText {
  readonly encrypted: string;
  readonly key_id: string;
}

/**
 * Encrypts a string for one purpose (`about`, as associated data). Decrypting it for another purpose fails as if it
 * were damaged.
 */
export function encrypt(text: string, about: string, keys: EncryptionKeys): EncryptedText {
  const { id, bytes } = keys.current();
  const nonce = randomBytes(nonceBytes);
  const encrypt = createCipheriv(cipher, bytes, nonce).setAAD(Buffer.from(about));
  const body = Buffer.concat([encrypt.update(text, 'utf8'), encrypt.final()]);
  return { key_id: id, encrypted: Buffer.concat([nonce, encrypt.getAuthTag(), body]).toString('base64') };
}

/**
 * Decrypts a string. Throws `LOGIN_KEY_UNKNOWN` or `LOGIN_DAMAGED` (family `config`); the stored string doesn't change.
 */
export function decrypt({ encrypted, key_id }: EncryptedText, about: string, keys: EncryptionKeys): string {
  const key = keys.find(key_id);
  if (key === undefined) throw keyUnknown(key_id, keys);
  const bytes = Buffer.from(encrypted, 'base64');
  try {
    const decrypt = createDecipheriv(cipher, key.bytes, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(about));
    decrypt.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return Buffer.concat([decrypt.update(bytes.subarray(nonceBytes + tagBytes)), decrypt.final()]).toString('utf8');
  } catch (cause) {
    throw damaged(cause);
  }
}

function keyUnknown(id: string, keys: EncryptionKeys): Problem {
  return new Problem({
    code: 'LOGIN_KEY_UNKNOWN',
    family: 'config',
    message: 'The key that the stored login was encrypted with is missing; the stored login is intact',
    seen: `key ${id}`,
    allowed: `SLUICE_KEY (or login_key), former_login_keys, or the key file ${keys.file}`,
    next: 'restore the key (in former_login_keys if it was replaced); if the key is lost, run "sluice login SOURCE"',
  });
}

function damaged(cause: unknown): Problem {
  return new Problem({
    code: 'LOGIN_DAMAGED',
    family: 'config',
    message: 'The stored login cannot be decrypted: it was changed or belongs to another login',
    next: 'restore the state folder, or log in again: sluice login SOURCE',
    cause,
  });
}
