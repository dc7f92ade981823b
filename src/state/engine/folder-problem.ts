import { Problem } from '../../lib/problem.ts';
import { folderAdvice } from './folder-advice.ts';
import { stateFileProblem } from './state-problem.ts';

interface FolderProblemOptions {
  readonly folder: string;
  /** The file that the error is about, if it's known. */
  readonly file?: string | undefined;
  /** What the folder is for, as in "payloads". */
  readonly kind?: string;
}

/**
 * Converts a file system error of one of the state's folders to a Problem: `STATE_UNUSABLE`, or what
 * {@link stateFileProblem} returns if the disk caused it. A Problem is returned unchanged.
 */
export function folderProblem(error: unknown, { folder, file, kind = 'state' }: FolderProblemOptions): Problem {
  if (error instanceof Problem) return error;
  return (
    stateFileProblem(error, file ?? folder) ??
    new Problem({
      code: 'STATE_UNUSABLE',
      family: 'config',
      message: `The ${kind} folder cannot be used: ${(error as Error).message}`,
      seen: folder,
      allowed: 'a folder that this user owns and can write to',
      next: folderAdvice(folder, (error as NodeJS.ErrnoException).code, process.getuid?.(), kind),
      cause: error,
    })
  );
}
