import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { commandLine } from '../lib/command-line.ts';

/**
 * What makes a folder usable for a user after an error of the file system: another owner, another mode, or one that root makes.
 * Without a command where none would help (a file in its place, a disk mounted read-only).
 */
export function folderAdvice(folder: string, code: string | undefined, uid: number | undefined): string {
  const elsewhere = 'name another state folder in the config';
  const command = code === 'EACCES' || code === 'EPERM' ? repairOf(folder, uid ?? 0) : undefined;
  return command === undefined ? elsewhere : `${elsewhere}, or give this one to the user that runs Sluice: ${command}`;
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
