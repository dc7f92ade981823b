import { createHash, randomBytes } from 'node:crypto';
import { type HttpRequest, type HttpResponse, registerSecret } from '#sdk';
import type { RequestSigner } from './request-signer.ts';

/** The hash functions of RFC 7616 (section 3.3) by their names in OpenSSL, the strongest first. */
const hashes: Readonly<Record<string, string>> = { 'SHA-512-256': 'sha512-256', 'SHA-256': 'sha256', MD5: 'md5' };

/** A challenge in a WWW-Authenticate header. */
interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: string;
  readonly hash: string;
  readonly isSession: boolean;
  /** Undefined if the server follows RFC 2069, which has no `qop`. */
  readonly qop: 'auth' | 'auth-int' | undefined;
  readonly isUserHashed: boolean;
}

interface DigestOptions {
  readonly user: string;
  readonly password: string;
  /** Default: a random string. */
  readonly clientNonce?: () => string;
}

const randomNonce = (): string => randomBytes(16).toString('hex');

/**
 * Digest access authentication (RFC 7616). The server's challenge is answered once, and its nonce is used for all later
 * requests until the server sends another one.
 */
export class DigestAuth implements RequestSigner {
  readonly #user: string;
  readonly #password: string;
  readonly #clientNonce: () => string;
  #challenge: Challenge | undefined;
  #count = 0;

  constructor({ user, password, clientNonce = randomNonce }: DigestOptions) {
    this.#user = user;
    this.#password = password;
    this.#clientNonce = clientNonce;
    registerSecret(password);
  }

  async sign(request: HttpRequest): Promise<HttpRequest> {
    if (this.#challenge === undefined) return request;
    const authorization = this.#authorization(this.#challenge, request);
    return { ...request, trustedHeaders: { ...request.trustedHeaders, authorization } };
  }

  isChallenged({ headers }: HttpResponse): boolean {
    const challenges = [headers['www-authenticate'] ?? []].flat().flatMap(challengesIn);
    const best = Object.keys(hashes).flatMap((name) =>
      challenges.filter(({ algorithm }) => baseOf(algorithm) === name),
    );
    this.#challenge = best[0];
    this.#count = 0;
    return best.length > 0;
  }

  #authorization(challenge: Challenge, { method, url, body = '' }: HttpRequest): string {
    const { realm, nonce, opaque, algorithm, hash, isSession, qop, isUserHashed } = challenge;
    const h = (text: string) => createHash(hash).update(text, 'utf8').digest('hex');
    const uri = `${url.pathname}${url.search}`;
    const nc = (++this.#count).toString(16).padStart(8, '0');
    const cnonce = this.#clientNonce();
    const plain = h(`${this.#user}:${realm}:${this.#password}`);
    const a1 = isSession ? h(`${plain}:${nonce}:${cnonce}`) : plain;
    const a2 = h(qop === 'auth-int' ? `${method}:${uri}:${h(body)}` : `${method}:${uri}`);
    const response = h(qop === undefined ? `${a1}:${nonce}:${a2}` : `${a1}:${nonce}:${nc}:${cnonce}:${qop}:${a2}`);
    const parts = {
      ...userPart(isUserHashed ? h(`${this.#user}:${realm}`) : this.#user),
      realm: quoted(realm),
      nonce: quoted(nonce),
      uri: quoted(uri),
      response: quoted(response),
      algorithm,
      ...(opaque === undefined ? {} : { opaque: quoted(opaque) }),
      ...(qop === undefined ? {} : { qop, nc, cnonce: quoted(cnonce) }),
      ...(isUserHashed ? { userhash: 'true' } : {}),
    };
    return `Digest ${Object.entries(parts)
      .map(([name, value]) => `${name}=${value}`)
      .join(', ')}`;
  }
}

/** A user name that isn't ASCII has another form (section 3.4.4). */
function userPart(user: string): Record<string, string> {
  if (/^[\u0020-\u007e]*$/.test(user)) return { username: quoted(user) };
  return { 'username*': `UTF-8''${encodeURIComponent(user)}` };
}

function quoted(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;
}

function baseOf(algorithm: string): string {
  return algorithm.toUpperCase().replace(/-SESS$/, '');
}

/** The Digest challenges in a header that we can answer; it may contain several, also of other kinds. */
function challengesIn(header: string): Challenge[] {
  const starts = [...header.matchAll(/(?:^|,)\s*([\w-]+)\s+(?=[\w-]+\s*=)/g)];
  return starts.flatMap(({ 0: whole, 1: scheme, index }, i) => {
    if (scheme?.toLowerCase() !== 'digest') return [];
    const challenge = challengeOf(header.slice(index + whole.length, starts[i + 1]?.index));
    return challenge === undefined ? [] : [challenge];
  });
}

function challengeOf(text: string): Challenge | undefined {
  const pairs = [...text.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g)].map(
    ([, name, inQuotes, token]) => [name!.toLowerCase(), inQuotes?.replaceAll(/\\(.)/g, '$1') ?? token ?? ''] as const,
  );
  const {
    realm = '',
    nonce,
    opaque,
    algorithm = 'MD5',
    qop,
    userhash,
  } = Object.fromEntries(pairs) as Record<string, string | undefined>;
  const hash = hashes[baseOf(algorithm)];
  const offered = qop?.split(',').map((one) => one.trim());
  const chosen = (['auth', 'auth-int'] as const).find((one) => offered?.includes(one));
  if (nonce === undefined || hash === undefined || (offered !== undefined && chosen === undefined)) return undefined;
  const isSession = /-sess$/i.test(algorithm);
  return { realm, nonce, opaque, algorithm, hash, isSession, qop: chosen, isUserHashed: userhash === 'true' };
}
