import { readdir, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { Problem, type QueryPath } from '#sdk';

export interface FoundFile {
  /** Absolute. */
  readonly path: string;
  /** Path relative to the source's folder, with `/` as the separator; absolute if the file is outside the folder. */
  readonly name: string;
}

/**
 * The files that match a path or a glob, sorted by name. A file whose name equals the whole pattern, including
 * brackets, takes precedence. If no file matches a pattern and `none` doesn't allow that, throws a Problem, because a
 * missing export must not look like an empty one. So does a missing file without `isMissing`.
 */
export async function findFiles(
  folder: string,
  { path, top, isOptional }: QueryPath,
  { none = false, isMissing = false }: { readonly none?: boolean; readonly isMissing?: boolean } = {},
): Promise<FoundFile[]> {
  const exact = resolve(folder, path);
  const topFolder = resolve(folder, top);
  const stats = await statsOf(exact);
  if (stats?.isFile()) return [named(folder, exact)];
  if (stats !== undefined) throw notAFile(path, stats.isDirectory());
  const { glob, isDynamicPattern } = await import('tinyglobby');
  if (!isDynamicPattern(path)) {
    if (!isMissing && !isOptional) throw notFound(folder, path, 'the file does not exist');
    // A folder that isn't mounted doesn't mean that there is no file.
    if (!(await isFolder(topFolder))) throw notFound(folder, path, `the folder ${topFolder} does not exist`);
    return [];
  }
  const unlisted: UnlistedFolder[] = [];
  const fs = { readdir: reportingReaddir((failure) => unlisted.push(failure)) };
  const found = await glob(path, { cwd: folder, absolute: true, onlyFiles: true, expandDirectories: false, fs });
  // The folder of a day may not exist yet.
  const isAbsent = isOptional && unlisted[0]?.error.code === 'ENOENT' && (await isFolder(topFolder));
  if (unlisted[0] !== undefined && !isAbsent) throw cannotList(folder, path, unlisted[0]);
  if (found.length === 0 && !none && !isOptional) throw notFound(folder, path, 'no file matches the pattern');
  return found.sort((a, b) => (a < b ? -1 : 1)).map((file) => named(folder, file));
}

interface UnlistedFolder {
  readonly folder: string;
  readonly error: NodeJS.ErrnoException;
}

/** The glob library treats an unreadable folder as an empty one, so this code checks whether the folder is readable. */
function reportingReaddir(report: (failure: UnlistedFolder) => void): typeof readdir {
  const reporting = (folder: string, options: object, done: (error: Error | null, entries: unknown) => void) =>
    readdir(folder, options, (error, entries) => {
      if (error !== null) report({ folder, error });
      done(error, entries);
    });
  return reporting as unknown as typeof readdir;
}

function cannotList(base: string, path: string, { folder, error }: UnlistedFolder): Problem {
  return error.code === 'ENOENT'
    ? notFound(base, path, `the folder ${folder} does not exist`)
    : unreadable(folder, error);
}

async function isFolder(path: string): Promise<boolean> {
  return (await statsOf(path))?.isDirectory() === true;
}

function named(folder: string, path: string): FoundFile {
  const inside = relative(folder, path);
  return { path, name: inside.startsWith('..') ? path : inside.split(sep).join('/') };
}

/** Returns undefined if the file doesn't exist. Throws a Problem for any other error. */
async function statsOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch((error: unknown) => unlessAbsent(path, error));
}

/** Throws a Problem unless the error means that the file doesn't exist. */
export function unlessAbsent(path: string, error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw unreadable(path, error);
}

/** The problem to report if a file or folder can't be read. */
export function unreadable(path: string, error: unknown): Problem {
  const { code, message } = error as NodeJS.ErrnoException;
  return new Problem({
    code: 'FILE_UNREADABLE',
    family: 'job',
    message: `${path} cannot be read`,
    seen: code ?? message,
    next: 'check the permissions of the file and its parent folders',
    cause: error,
  });
}

/** The problem to report if no file matches. `folder` is the folder that relative paths start from. */
export function notFound(folder: string, path: string, message: string): Problem {
  return new Problem({
    code: 'FILE_NOT_FOUND',
    family: 'job',
    message,
    seen: path,
    next: `create it, or set another path; relative paths start at ${folder}`,
  });
}

function notAFile(path: string, isFolder: boolean): Problem {
  return new Problem({
    code: 'FILE_NOT_A_FILE',
    family: 'job',
    message: isFolder ? 'the path is a folder' : 'the path is not a regular file',
    seen: path,
    ...(isFolder
      ? { next: `set the path to the files in it, for example \`path: ${path.replace(/\/+$/, '')}/*.csv\`` }
      : {}),
  });
}
