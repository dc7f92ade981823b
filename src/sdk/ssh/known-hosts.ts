import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** A host key in a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
export interface KnownKey {
  readonly type: string;
  readonly key: Buffer;
  readonly line: number;
  readonly isRevoked: boolean;
}

/**
 * The known keys for a host and port. A line may list several names, patterns with `*` and `?`, names negated with `!`,
 * or hashed names. Keys of certificate authorities are ignored, because certificates aren't supported.
 */
export function keysOf(text: string, { host, port }: { host: string; port: number }): KnownKey[] {
  const name = port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
  return text.split(/\r?\n/).flatMap((line, i): KnownKey[] => {
    const words = line.trim().split(/\s+/);
    if (line.trim() === '' || words[0]!.startsWith('#')) return [];
    const mark = words[0]!.startsWith('@') ? words.shift() : undefined;
    const [names, type, key] = words;
    if (key === undefined || mark === '@cert-authority' || !isNamed(names!, name)) return [];
    return [{ type: type!, key: Buffer.from(key, 'base64'), line: i + 1, isRevoked: mark === '@revoked' }];
  });
}

function isNamed(names: string, name: string): boolean {
  if (names.startsWith('|1|')) return isHashOf(names, name);
  const patterns = names.split(',');
  const matches = (pattern: string) => patternOf(pattern).test(name);
  if (patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)))) return false;
  return patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern));
}

function patternOf(pattern: string): RegExp {
  const source = pattern
    .toLowerCase()
    .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`);
}

/** `|1|salt|hash`: the HMAC-SHA1 of the name, with the salt as key. Salt and hash are in base64. */
function isHashOf(hashed: string, name: string): boolean {
  const [, , salt = '', hash = ''] = hashed.split('|');
  const wanted = Buffer.from(hash, 'base64');
  const made = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return wanted.length === made.length && timingSafeEqual(wanted, made);
}

/** A key's fingerprint as OpenSSH shows it: `SHA256:` and base64 without padding. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** The key type that the key itself contains, such as ssh-ed25519 (RFC 4253, 6.6). */
export function typeOf(key: Buffer): string {
  return key.subarray(4, 4 + key.readUInt32BE(0)).toString('latin1');
}
