import { decryptText, encryptText } from '../lib/aes-gcm.ts';
import { Problem } from '../lib/problem.ts';
import type { EncryptionKeys } from './keys.ts';

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
  return { key_id: id, encrypted: encryptText(text, bytes, about) };
}

/**
 * Decrypts a string. Throws `LOGIN_KEY_UNKNOWN` or `LOGIN_DAMAGED` (family `config`); the stored string doesn't change.
 */
export function decrypt({ encrypted, key_id }: EncryptedText, about: string, keys: EncryptionKeys): string {
  const key = keys.find(key_id);
  if (key === undefined) throw keyUnknown(key_id, keys);
  try {
    return decryptText(encrypted, key.bytes, about);
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
