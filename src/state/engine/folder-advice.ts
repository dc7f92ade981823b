import { readdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { commandLine } from '../../lib/command-line.ts';

/**
 * What makes a folder usable for a user after an error of the file system: another owner, another mode, or one that root makes.
 * Without a command where none would help (a file in its place, a disk mounted read-only).
 */
export function folderAdvice(folder: string, code: string | undefined, uid: number | undefined): string {
  const elsewhere = 'name another state folder in the config';
  const owner = ownerOfState(folder);
  if (owner !== undefined && owner !== uid) return `${asOwner(owner)}, or ${elsewhere}`;
  const command = code === 'EACCES' || code === 'EPERM' ? repairOf(folder, uid ?? 0) : undefined;
  return command === undefined ? elsewhere : `${elsewhere}, or give this one to the user that runs Sluice: ${command}`;
}

/** How a command is run on a state that belongs to another user. To give it away would take it from a daemon that lives on it. */
export const asOwner = (uid: number): string =>
  `run this command as the user that owns the state folder: ${commandLine('sudo', '-u', `#${uid}`)} sluice …`;

/**
 * Undefined if the folder is missing, empty, or root's, which loses nothing when it is given away. One that cannot be looked
 * into is taken for a state.
 */
function ownerOfState(folder: string): number | undefined {
  const [at, { uid }] = nearest(folder);
  if (at !== folder || uid === 0) return undefined;
  try {
    return readdirSync(folder).length > 0 ? uid : undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? undefined : uid;
  }
}

function repairOf(folder: string, uid: number): string | undefined {
  const [at, stat] = nearest(folder);
  if (!stat.isDirectory()) return undefined;
  if (stat.uid === uid) return commandLine('chmod', 'u+rwx', at);
  return at === folder
    ? commandLine('chown', '-R', uid, folder)
    : commandLine('install', '-d', '-o', uid, '-m', 700, folder);
}

/** The path itself, or the closest folder above it that can be looked at. */
function nearest(path: string): [string, Stats] {
  try {
    return [path, statSync(path)];
  } catch (error) {
    if (dirname(path) === path) throw error;
    return nearest(dirname(path));
  }
}
