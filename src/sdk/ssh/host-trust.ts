import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ServerHostKeyAlgorithm } from 'ssh2';
import { commandLine } from '../../lib/command-line.ts';
import { expandHome } from '../../lib/expand-home.ts';
import type { Problem } from '../../lib/problem.ts';
import { fingerprintOf, type KnownKey, keysOf, typeOf } from './known-hosts.ts';
import type { SshLogin } from './login.ts';
import { badFile, make } from './problems.ts';

/** Decides whether to trust a host key. */
export interface HostTrust {
  /**
   * Lists of host key algorithms to offer, best list first, so that the host shows a known key. Each list requires a
   * separate connection.
   */
  readonly offers: readonly (readonly ServerHostKeyAlgorithm[])[];
  /** Why a key isn't trusted; undefined if it's trusted. */
  refusal(key: Buffer): Problem | undefined;
}

/**
 * Trusts the pinned fingerprint or, if there is none, the keys in the known_hosts file. No other key is ever trusted.
 */
export async function hostTrust(login: SshLogin): Promise<HostTrust> {
  if (login.host_key !== undefined) return pinned(login, login.host_key.replace(/=+$/, ''));
  const path = pathOf(login.known_hosts_file, login.folder);
  const keys = keysOf(await textOf(login, path), login);
  return { offers: [knownFirst(keys)], refusal: (key) => refusalBy({ login, path, keys }, key) };
}

function pinned(login: SshLogin, wanted: string): HostTrust {
  const refusal = (key: Buffer) => (fingerprintOf(key) === wanted ? undefined : changed(login, key, wanted));
  // A host shows only one of its keys, and the pinned key may be of a different type.
  return { offers: [kinds.flat(), ...kinds], refusal };
}

/**
 * Key types, the most common first. An RSA key has three signature algorithms; for other keys, the algorithm has the
 * key type's name.
 */
const kinds: readonly (readonly ServerHostKeyAlgorithm[])[] = [
  ['ssh-ed25519'],
  ['ecdsa-sha2-nistp256'],
  ['ecdsa-sha2-nistp384'],
  ['ecdsa-sha2-nistp521'],
  ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'],
];

function pathOf(path: string, folder: string): string {
  return resolve(folder, expandHome(path));
}

/** A missing file has no hosts. */
async function textOf(login: SshLogin, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw badFile(login, { option: 'known_hosts_file', path, cause: error });
  }
}

/**
 * All key types, with those of known keys first. If the host has none of the known keys, it shows a different key,
 * which is then checked.
 */
function knownFirst(keys: readonly KnownKey[]): ServerHostKeyAlgorithm[] {
  const known = new Set<string>(keys.filter(({ isRevoked }) => !isRevoked).map(({ type }) => type));
  const isKnown = (kind: readonly string[]) => kind.some((name) => known.has(name));
  return [...kinds.filter(isKnown), ...kinds.filter((kind) => !isKnown(kind))].flat();
}

interface Known {
  readonly login: SshLogin;
  readonly path: string;
  readonly keys: readonly KnownKey[];
}

function refusalBy({ login, path, keys }: Known, key: Buffer): Problem | undefined {
  const same = keys.filter((known) => known.key.equals(key));
  const revoked = same.find(({ isRevoked }) => isRevoked);
  if (revoked !== undefined) return changed(login, key, `none: line ${revoked.line} of ${path} revokes this key`);
  if (same.length > 0) return undefined;
  const others = keys.filter(({ isRevoked }) => !isRevoked);
  if (others.length === 0) return unknown(login, path, key);
  const otherKeys = others.map(({ key: other, line }) => `${fingerprintOf(other)} (line ${line} of ${path})`);
  return changed(login, key, otherKeys.join(', '));
}

function shown(key: Buffer): string {
  return `${typeOf(key)} ${fingerprintOf(key)}`;
}

function unknown(login: SshLogin, path: string, key: Buffer): Problem {
  const print = fingerprintOf(key);
  return make(login, 'HOST_KEY_UNKNOWN', 'config', {
    message: `host key verification failed: the key of ${login.place}, ${print}, is unknown`,
    seen: shown(key),
    next: `confirm the fingerprint with the server's administrator, then set \`host_key: ${print}\`, or run: ${commandLine('ssh-keyscan', '-p', login.port, login.host)} >> ${commandLine(path)}`,
  });
}

function changed(login: SshLogin, key: Buffer, allowed: string): Problem {
  return make(login, 'HOST_KEY_CHANGED', 'config', {
    message: `host key verification failed: ${login.place} has key ${fingerprintOf(key)} instead of the trusted key; this may be a man-in-the-middle attack`,
    seen: shown(key),
    allowed,
    next: "confirm the new key with the server's administrator before you continue; then set host_key, or replace the line in the known_hosts file",
  });
}
