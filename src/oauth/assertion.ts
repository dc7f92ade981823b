import { createHmac, randomUUID, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Login } from '../config/config.ts';
import { Problem } from '../lib/problem.ts';
import { registerSecret } from '../lib/redact.ts';

/** An assertion's issuer and signing key. */
interface Signer {
  readonly issuer: string;
  readonly key: string;
  readonly keyId?: string;
}

const longestLifeSeconds = 3600;

/**
 * A signed JWT that is exchanged for a token (RFC 7523 section 2.1). `now`: milliseconds, by the vendor's clock if it's
 * known, because an assertion from the future is refused.
 */
export async function makeAssertion(login: Login, { folder, now }: { folder: string; now: number }): Promise<string> {
  const { assertion, token_url } = login.description;
  const algorithm = assertion?.algorithm ?? 'RS256';
  const signer = await signerOf(login, algorithm, folder);
  const at = Math.floor(now / 1000);
  const claims = {
    iss: signer.issuer,
    aud: assertion?.audience ?? token_url,
    iat: at,
    exp: at + Math.min(assertion?.lifetime_seconds ?? longestLifeSeconds, longestLifeSeconds),
    jti: randomUUID(),
    sub: login.subject,
    ...assertion?.claims,
  };
  const header = { alg: algorithm, typ: 'JWT', kid: signer.keyId };
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${signatureOf(signed, algorithm, signer.key)}`;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function signatureOf(text: string, algorithm: 'RS256' | 'HS256', key: string): string {
  if (algorithm === 'HS256') return createHmac('sha256', key).update(text).digest('base64url');
  try {
    return sign('sha256', Buffer.from(text), key).toString('base64url');
  } catch (cause) {
    throw new Problem({
      code: 'LOGIN_PRIVATE_KEY',
      family: 'config',
      message: "The login's private key cannot be used for signing",
      allowed: 'an RSA key in PEM format, as in the account file',
      next: "check the login's private_key or account_file",
      cause,
    });
  }
}

async function signerOf(login: Login, algorithm: 'RS256' | 'HS256', folder: string): Promise<Signer> {
  if (login.accountFile !== undefined) return readAccountFile(resolve(folder, login.accountFile), login);
  const key = algorithm === 'HS256' ? login.clientSecret : login.privateKey;
  return { issuer: login.clientId, key: key ?? '' };
}

/** The service account file that Google and others use: `client_email`, `private_key`, `private_key_id`. */
async function readAccountFile(file: string, { clientId }: Login): Promise<Signer> {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  } catch (cause) {
    // The message is replaced, because a JSON syntax error's message contains part of the file.
    const reason = cause instanceof SyntaxError ? 'it is not JSON' : (cause as Error).message;
    throw accountFileFault(file, `cannot be read: ${reason}`);
  }
  const issuer = clientId === '' ? fields.client_email : clientId;
  if (typeof issuer !== 'string' || typeof fields.private_key !== 'string') {
    throw accountFileFault(file, 'lacks client_email or private_key');
  }
  registerSecret(fields.private_key);
  const keyId = typeof fields.private_key_id === 'string' ? { keyId: fields.private_key_id } : {};
  return { issuer, key: fields.private_key, ...keyId };
}

function accountFileFault(file: string, what: string): Problem {
  return new Problem({
    code: 'LOGIN_ACCOUNT_FILE',
    family: 'config',
    message: `The service account's key file ${what}`,
    seen: file,
    allowed: 'the JSON file from the vendor, with client_email and private_key',
    next: "fix the login's account_file",
  });
}
