import { constants, createHmac, createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Login } from '../config/config.ts';
import { Problem } from '../lib/problem.ts';
import { registerSecret } from '../lib/redact.ts';
import type { AssertionAlgorithm } from '../sdk/oauth.ts';

/** An assertion's issuer and signing key. */
interface Signer {
  readonly issuer: string;
  readonly key: string;
  readonly keyId?: string;
}

const maxLifetimeSeconds = 3600;
/** Servers refuse an app's assertion that is valid for longer (SMART App Launch 2.2, Client Authentication). */
const clientLifeSeconds = 300;

interface AssertionOptions {
  /** The config's folder. */
  readonly folder: string;
  /** Milliseconds, by the vendor's clock if it's known, because an assertion from the future is refused. */
  readonly now: number;
  /** Whether the assertion is exchanged for a token (RFC 7523, 2.1) or identifies the app (RFC 7523, 2.2). */
  readonly purpose: 'grant' | 'client';
}

/** A signed JWT. */
export async function makeAssertion(login: Login, { folder, now, purpose }: AssertionOptions): Promise<string> {
  const { assertion, token_url } = login.description;
  const algorithm = assertion?.algorithm ?? 'RS256';
  const signer = await signerOf(login, algorithm, folder);
  const at = Math.floor(now / 1000);
  const isGrant = purpose === 'grant';
  const maxSeconds = isGrant ? maxLifetimeSeconds : clientLifeSeconds;
  const claims = {
    iss: signer.issuer,
    aud: assertion?.audience ?? token_url,
    iat: at,
    exp: at + Math.min(assertion?.lifetime_seconds ?? maxSeconds, maxSeconds),
    jti: randomUUID(),
    sub: isGrant ? login.subject : signer.issuer,
    ...(isGrant ? assertion?.claims : {}),
  };
  const header = { alg: algorithm, typ: 'JWT', kid: signer.keyId };
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${signatureOf(signed, algorithm, signer.key)}`;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** A signature by RFC 7518: section 3.2 for HS, 3.3 for RS, 3.4 for ES and 3.5 for PS. */
function signatureOf(text: string, algorithm: AssertionAlgorithm, key: string): string {
  const hash = `sha${algorithm.slice(2)}`;
  if (algorithm === 'HS256') return createHmac(hash, key).update(text).digest('base64url');
  const isPss = algorithm.startsWith('PS');
  const padding = isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {};
  try {
    const privateKey = createPrivateKey(key);
    const isRightKind = privateKey.asymmetricKeyType === (algorithm.startsWith('ES') ? 'ec' : 'rsa');
    if (!isRightKind) throw new Error(`${algorithm} needs another kind of key than ${privateKey.asymmetricKeyType}`);
    return sign(hash, Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363', ...padding }).toString(
      'base64url',
    );
  } catch (cause) {
    throw new Problem({
      code: 'LOGIN_PRIVATE_KEY',
      family: 'config',
      message: "The login's private key cannot be used for signing",
      seen: `algorithm ${algorithm}`,
      allowed: algorithm.startsWith('ES') ? 'an EC key in PEM format' : 'an RSA key in PEM format',
      next: "check the login's private_key or account_file",
      cause,
    });
  }
}

async function signerOf(login: Login, algorithm: AssertionAlgorithm, folder: string): Promise<Signer> {
  if (login.accountFile !== undefined) return readAccountFile(resolve(folder, login.accountFile), login);
  const key = algorithm === 'HS256' ? login.clientSecret : login.privateKey;
  const keyId = login.keyId === undefined ? {} : { keyId: login.keyId };
  return { issuer: login.clientId, key: key ?? '', ...keyId };
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
