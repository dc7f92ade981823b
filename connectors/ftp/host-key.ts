import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { ServerHostKeyAlgorithm } from 'ssh2';
import type { Problem } from '#sdk';
import { fingerprintOf, type KnownKey, keysOf, typeOf } from './known-hosts.ts';
import type { SourceValues } from './options.ts';
import { placeOf, portOf } from './place.ts';
import { badFile, make } from './problems.ts';

/** What makes a host's key believed. */
export interface HostTrust {
  /** Algorithms to ask the host for, so that it shows the key that is known; all usual ones when undefined. */
  readonly algorithms: ServerHostKeyAlgorithm[] | undefined;
  /** The reason why a key is not believed; undefined when it is. */
  refusal(key: Buffer): Problem | undefined;
}

/** Trust by the pinned fingerprint, or else by the known_hosts file. A key that neither knows is never believed. */
export async function hostTrust(source: SourceValues, folder: string): Promise<HostTrust> {
  if (source.host_key !== undefined) return pinned(source, source.host_key.replace(/=+$/, ''));
  const path = pathOf(source.known_hosts_file, folder);
  const keys = keysOf(await textOf(path), { host: source.host, port: portOf(source) });
  return { algorithms: algorithmsFor(keys), refusal: (key) => refusalBy({ source, path, keys }, key) };
}

function pinned(source: SourceValues, wanted: string): HostTrust {
  const refusal = (key: Buffer) => (fingerprintOf(key) === wanted ? undefined : changed(source, key, wanted));
  return { algorithms: undefined, refusal };
}

function pathOf(path: string, folder: string): string {
  return resolve(folder, path.replace(/^~(?=\/)/, homedir()));
}

/** A file that is not there knows nobody. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw badFile('known_hosts_file', path, error);
  }
}

/** An RSA key signs by three algorithms; the others are called like their keys. */
function algorithmsFor(keys: readonly KnownKey[]): ServerHostKeyAlgorithm[] | undefined {
  const types = new Set(keys.filter(({ isRevoked }) => !isRevoked).map(({ type }) => type));
  if (types.size === 0) return undefined;
  const names = [...types].flatMap((type) => (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', type] : [type]));
  return names as ServerHostKeyAlgorithm[];
}

interface Known {
  readonly source: SourceValues;
  readonly path: string;
  readonly keys: readonly KnownKey[];
}

function refusalBy({ source, path, keys }: Known, key: Buffer): Problem | undefined {
  const same = keys.filter((known) => known.key.equals(key));
  const revoked = same.find(({ isRevoked }) => isRevoked);
  if (revoked !== undefined) return changed(source, key, `nobody: line ${revoked.line} of ${path} revokes this key`);
  if (same.length > 0) return undefined;
  const others = keys.filter(({ isRevoked }) => !isRevoked);
  if (others.length === 0) return unknown(source, path, key);
  const told = others.map(({ key: other, line }) => `${fingerprintOf(other)} (line ${line} of ${path})`);
  return changed(source, key, told.join(', '));
}

function shown(key: Buffer): string {
  return `${typeOf(key)} ${fingerprintOf(key)}`;
}

function unknown(source: SourceValues, path: string, key: Buffer): Problem {
  const print = fingerprintOf(key);
  return make('FTP_HOST_KEY_UNKNOWN', 'config', {
    message: `host key ${print} of ${placeOf(source)} is one that nobody here vouches for`,
    seen: shown(key),
    next: `when whoever runs the server confirms it, set \`host_key: ${print}\`, or run: ssh-keyscan -p ${portOf(source)} ${source.host} >> ${path}`,
  });
}

function changed(source: SourceValues, key: Buffer, allowed: string): Problem {
  return make('FTP_HOST_KEY_CHANGED', 'config', {
    message: `host key ${fingerprintOf(key)} of ${placeOf(source)} is not the one that is believed; somebody may stand in between`,
    seen: shown(key),
    allowed,
    next: 'do not go on before whoever runs the server confirms the new key; then put it into host_key, or replace the line in the known_hosts file',
  });
}
