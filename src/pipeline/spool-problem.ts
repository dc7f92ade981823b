import { openFilesProblem, Problem } from '../lib/problem.ts';

/** Error codes for a full disk, a used-up disk quota, or a file that has reached the size limit. */
const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
/** Codes of errors that a retry doesn't fix. */
const forbidden = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG']);

/** Converts a file-system error in the payload folder to a Problem that names the folder. */
export function spoolProblem(error: unknown, folder: string): Problem {
  if (error instanceof Problem) return error;
  const limited = openFilesProblem(error);
  if (limited !== undefined) return limited.at({ stage: 'spool' });
  const { code = 'unknown', message } = error as NodeJS.ErrnoException;
  if (full.has(code)) return diskFull(code, folder, error);
  if (forbidden.has(code)) return folderRefused(message, folder, error);
  return new Problem({
    code: 'SPOOL_FAILED',
    family: 'try_later',
    message: `Failed to write a payload to ${folder}`,
    where: { stage: 'spool' },
    seen: message,
    cause: error,
  });
}

/**
 * Like {@link spoolProblem}, for a connector's write error in its scratch folder; undefined if it isn't a write error
 * or concerns another folder.
 */
export function scratchProblem(error: unknown, folder: string): Problem | undefined {
  const { code, syscall, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof Problem || code === undefined) return undefined;
  // A file handle's error has no path, and a socket never fails with this code and system call.
  const isOurs = path === undefined ? code === 'EIO' && syscall === 'write' : path.startsWith(folder);
  return isOurs || full.has(code) ? spoolProblem(error, folder) : undefined;
}

function diskFull(code: string, folder: string, cause: unknown): Problem {
  return new Problem({
    code: 'DISK_FULL',
    family: 'try_later',
    message: `No space left for the payload in ${folder}`,
    where: { stage: 'spool' },
    seen: code,
    next: `free some disk space, or move the state folder to a larger disk`,
    cause,
  });
}

function folderRefused(message: string, folder: string, cause: unknown): Problem {
  return new Problem({
    code: 'SPOOL_REFUSED',
    family: 'config',
    message: `Payloads cannot be written to ${folder}`,
    where: { stage: 'spool' },
    seen: message,
    next: 'give the user who runs Sluice write access to the state folder',
    cause,
  });
}
