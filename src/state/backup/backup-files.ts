import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Problem } from '../../lib/problem.ts';
import { type StateLocation, stateText } from '../engine/state-database.ts';

/** A file in a backup. Its path is relative to the backup's folder. */
interface Kept {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * A backup's manifest. It's written last, so a folder without a manifest isn't a complete backup, no matter which other
 * files it contains.
 */
export interface BackupManifest {
  readonly format: 1;
  /** ISO 8601. */
  readonly made_at: string;
  readonly files: readonly Kept[];
}

export const manifestName = 'backup.json';
export const databaseName = 'sluice.db';
/** Name of the key file. If the user hasn't configured a key, logins are encrypted with the key in this file. */
export const keyName = 'login.key';

/** Reads a whole file to determine its size and hash. */
export async function measure(path: string): Promise<Pick<Kept, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(createReadStream(path), async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      bytes += piece.length;
      hash.update(piece);
    }
    yield* [];
  });
  return { bytes, sha256: hash.digest('hex') };
}

/**
 * Reads a backup's manifest and compares the files with it. Throws `BACKUP_BROKEN` if a file is missing or different.
 */
export async function verifyBackup(folder: string): Promise<BackupManifest> {
  const manifest = await readManifest(folder);
  for (const { file, bytes, sha256 } of manifest.files) {
    const seen = await measure(join(folder, file)).catch((error: Error) => broken(folder, error.message, error));
    if (seen.bytes !== bytes || seen.sha256 !== sha256) broken(folder, `${file} has changed since the backup was made`);
  }
  return manifest;
}

async function readManifest(folder: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch((error: Error) =>
    broken(folder, `the folder contains no ${manifestName}: ${error.message}`, error),
  );
  try {
    const manifest = JSON.parse(text) as BackupManifest;
    const isWhole = manifest.format === 1 && manifest.files.some(({ file }) => file === databaseName);
    return isWhole ? manifest : broken(folder, `${manifestName} has an unknown format`);
  } catch (error) {
    if (error instanceof Problem) throw error;
    return broken(folder, `${manifestName} cannot be read`, error);
  }
}

function broken(folder: string, why: string, cause?: unknown): never {
  throw new Problem({
    code: 'BACKUP_BROKEN',
    family: 'config',
    message: `The backup is incomplete, so nothing was changed: ${why}`,
    seen: folder,
    next: 'use another backup',
    cause,
  });
}

/** Returns the names of the entries in a folder, or an empty array if the folder doesn't exist. */
export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** Creates the error for a command that needs a state if there is none. */
export function nothingThere(location: StateLocation): Problem {
  return new Problem({
    code: 'STATE_MISSING',
    family: 'config',
    message: 'There is no state to back up or restore',
    seen: stateText(location),
    next: 'set --config to the config of that state',
  });
}
