import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refuseForeignLinks } from './foreign-links.ts';
import { giveToOwner } from './give-to-owner.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const anybodyElse = 0o077;

/**
 * Creates a file that belongs to the folder's owner and that no other user can access. Returns a descriptor for
 * writing, which the caller closes. Throws `EEXIST` if anything already exists at the path, including a link.
 */
export function createPrivateFile(path: string): number {
  refuseForeignLinks(dirname(path));
  const descriptor = openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  giveToOwner(descriptor, dirname(path));
  return descriptor;
}

/**
 * Like {@link createPrivateFile}, but on the thread pool, so that a disk that doesn't respond doesn't block the caller.
 */
export async function createPrivateHandle(path: string): Promise<FileHandle> {
  refuseForeignLinks(dirname(path));
  const handle = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  giveToOwner(handle.fd, dirname(path));
  return handle;
}

/**
 * Opens a file for reading and removes all permissions except its owner's. Returns a descriptor, which the caller
 * closes. Throws like {@link openNoLink}, and if the file has another hard link, whose permissions would change too.
 */
export function openPrivateFile(path: string): number {
  refuseForeignLinks(dirname(path));
  const descriptor = openNoLink(path);
  try {
    const stat = fstatSync(descriptor);
    if ((stat.mode & anybodyElse) === 0) return descriptor;
    if (stat.nlink > 1) throw new Error(`${path} is readable by other users and has another name (a hard link)`);
    fchmodSync(descriptor, 0o600);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Opens a regular file for reading. Returns a descriptor, which the caller closes. Throws the system's error, or a
 * specific one if the path is a link or isn't a file.
 */
export function openNoLink(path: string): number {
  if (lstatSync(path).isSymbolicLink()) throw new Error(`${path} is a symbolic link, which Sluice does not follow`);
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new Error(`${path} is not a regular file`);
}

/**
 * Ensures that the file exists and that only its owner can access it. Throws like {@link createPrivateFile} and
 * {@link openPrivateFile}.
 */
export function ensurePrivateFile(path: string): void {
  closeSync(openOrCreate(path));
}

function openOrCreate(path: string): number {
  try {
    return createPrivateFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return openPrivateFile(path);
  }
}
