import { createHash } from 'node:crypto';
import { etc, Point } from '@noble/ed25519';

/** Length of the server's challenge. Some servers add a NUL. */
const challengeBytes = 32;

/**
 * The answer to the challenge of MariaDB's plugin `ed25519`: its signature with the password. In contrast to RFC 8032,
 * the key isn't made from 32 random bytes, but from the password, of any length. Node can't make such a key.
 * https://mariadb.com/docs/server/reference/plugins/authentication-plugins/authentication-plugin-ed25519
 */
export function ed25519Answer(password: string, data: Buffer): Buffer {
  const challenge = data.subarray(0, challengeBytes);
  const hash = sha512(Buffer.from(password, 'utf8'));
  const scalar = numberIn(clamped(hash.subarray(0, 32)));
  const secret = numberIn(sha512(hash.subarray(32), challenge));
  const publicKey = pointOf(scalar);
  const commitment = pointOf(secret);
  const factor = numberIn(sha512(commitment, publicKey, challenge));
  return Buffer.concat([commitment, bytesOf(etc.mod(secret + factor * scalar, order))]);
}

const order = Point.CURVE().n;

function sha512(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** RFC 8032, section 5.1.5, step 2. */
function clamped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[0]! &= 0xf8;
  copy[31] = (copy[31]! & 0x7f) | 0x40;
  return copy;
}

/** Both are little-endian. */
const numberIn = (bytes: Uint8Array): bigint =>
  etc.mod(BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`), order);
const bytesOf = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const pointOf = (scalar: bigint): Buffer => Buffer.from(Point.BASE.multiply(scalar).toBytes());
