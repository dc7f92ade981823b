import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

const cost = { N: 16_384, r: 8, p: 1 };
const hashBytes = 32;

/** `scrypt$<N>$<r>$<p>$<salt>$<hash>`, salt and hash in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, cost);
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Whether the password is correct. If there is no stored hash, takes the same time and returns false. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, n, r, p, salt, hash] = (stored ?? dummyHash).split('$');
  const expected = Buffer.from(hash!, 'base64url');
  const given = await derive(password, Buffer.from(salt!, 'base64url'), { N: Number(n), r: Number(r), p: Number(p) });
  return timingSafeEqual(given, expected) && stored !== null;
}

/**
 * A hash to verify against if the user doesn't exist, so that the response time doesn't reveal which e-mail addresses
 * exist.
 */
const dummyHash = [
  'scrypt',
  cost.N,
  cost.r,
  cost.p,
  'AAAAAAAAAAAAAAAAAAAAAA',
  Buffer.alloc(hashBytes).toString('base64url'),
].join('$');

function derive(password: string, salt: Buffer, given: { N: number; r: number; p: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, hashBytes, given, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
