import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Problem } from '../../lib/problem.ts';
import { registerSecret } from '../../lib/redact.ts';

/** A random token of 192 bits. */
export function newToken(): string {
  return randomBytes(24).toString('hex');
}

/** Validates a token. Throws a Problem if it's too short or can't be sent in a header. */
export function checkToken(token: string): string {
  registerSecret(token);
  if (/^[\x21-\x7e]{8,200}$/.test(token)) return token;
  throw new Problem({
    code: 'SERVICE_CONTROL_TOKEN',
    family: 'config',
    message: 'invalid token for the control interface',
    allowed: '8 to 200 printable characters without spaces',
  });
}

/** Whether an `Authorization` header carries this token. Compares in constant time. */
export function bearsToken(header: string | undefined, token: string): boolean {
  const given = /^bearer\s+(\S+)\s*$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
