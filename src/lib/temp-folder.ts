import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFilesProblem, Problem } from './problem.ts';

/** Errors that don't go away with time, such as a missing path, missing permissions or a read-only file system. */
const permanent: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG']);

/**
 * Creates an empty `sluice-NAME-…` folder for temporary files, by default in the system's temporary folder, and returns
 * its path. Throws `TEMP_FOLDER` if it can't be created.
 */
export async function makeTempFolder(name: string, parent = tmpdir()): Promise<string> {
  try {
    return await mkdtemp(join(parent, `sluice-${name}-`));
  } catch (error) {
    throw openFilesProblem(error) ?? unusable(error as NodeJS.ErrnoException, parent);
  }
}

function unusable(error: NodeJS.ErrnoException, parent: string): Problem {
  return new Problem({
    code: 'TEMP_FOLDER',
    family: permanent.has(error.code ?? '') ? 'config' : 'try_later',
    message: `Cannot create a folder for temporary files in ${parent}`,
    seen: error.message,
    allowed: 'an existing folder with free space that the user who runs Sluice may write to',
    next: 'set the variable TMPDIR to such a folder, or create this one',
    cause: error,
  });
}
