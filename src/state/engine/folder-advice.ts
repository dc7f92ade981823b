import { readdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { commandLine } from '../../lib/command-line.ts';

/**
 * Returns advice on how to make a folder of the state usable after a file system error; `kind` is what the folder is
 * for. The advice includes a command that changes
 * the folder's owner or mode, or that creates the folder as root. It includes no command if none would help, such as if
 * a file has the folder's name or the file system is read-only.
 */
export function folderAdvice(
  folder: string,
  code: string | undefined,
  uid: number | undefined,
  kind = 'state',
): string {
  const elsewhere = `set another ${kind} folder in the config`;
  const owner = ownerOfState(folder);
  if (owner !== undefined && owner !== uid) return `${asOwner(owner, kind)}, or ${elsewhere}`;
  const command = code === 'EACCES' || code === 'EPERM' ? repairOf(folder, uid ?? 0) : undefined;
  return command === undefined
    ? elsewhere
    : `${elsewhere}, or make the user who runs Sluice the owner of this folder: ${command}`;
}

/**
 * Returns advice on how to run a command on a state that belongs to another user. Changing the owner of the state
 * folder instead would break a daemon that uses the state.
 */
export const asOwner = (uid: number, kind = 'state'): string =>
  `run this command as the owner of the ${kind} folder: ${commandLine('sudo', '-u', `#${uid}`)} sluice …`;

/**
 * Returns the UID of a state folder's owner. Returns undefined if the folder is missing, empty or owned by root,
 * because its owner can then be changed without harm. A folder that can't be listed counts as a state folder.
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

/** Returns the path itself or its nearest ancestor that `stat` can read, with the result of `stat`. */
function nearest(path: string): [string, Stats] {
  try {
    return [path, statSync(path)];
  } catch (error) {
    if (dirname(path) === path) throw error;
    return nearest(dirname(path));
  }
}
