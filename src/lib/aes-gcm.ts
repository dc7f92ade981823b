import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a string with a key of 32 bytes. `about` is associated data: decrypting with another value fails. Returns the
 * nonce, the tag and the encrypted text in base64.
 */
export function encryptText(text: string, key: Buffer, about = ''): string {
  const nonce = randomBytes(nonceBytes);
  const encrypt = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(about));
  const body = Buffer.concat([encrypt.update(text, 'utf8'), encrypt.final()]);
  return Buffer.concat([nonce, encrypt.getAuthTag(), body]).toString('base64');
}

/** Decrypts what {@link encryptText} returned. Throws if it was changed, or encrypted with another key or `about`. */
export function decryptText(encrypted: string, key: Buffer, about = ''): string {
  const bytes = Buffer.from(encrypted, 'base64');
  const decrypt = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(about));
  decrypt.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decrypt.update(bytes.subarray(nonceBytes + tagBytes)), decrypt.final()]).toString('utf8');
}
