import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with our `src` and `connectors`, built or not, and the built `chunks`. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const ownFolders = ['src', 'connectors', 'chunks'].map((folder) => `${root}${folder}${sep}`);

const deepestCause = 5;

/**
 * The missing module that our own code imported, as Node names it; undefined if `thrown` is anything else. Imports in a
 * user's connector don't count, because its author decides what is installed.
 */
export function missingModule(thrown: unknown, depth = 0): string | undefined {
  if (!(thrown instanceof Error) || depth > deepestCause) return undefined;
  if (isMissing(thrown) && askersOf(thrown).some(isOwnFile)) return thrown.message.split('\n')[0];
  return missingModule(thrown.cause, depth + 1);
}

interface Missing extends Error {
  readonly code: string;
  readonly requireStack?: readonly string[];
}

const isMissing = (error: Error): error is Missing =>
  'code' in error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND');

/**
 * The files that imported the missing module. An `import` error names the importing file only in its message; a
 * `require` error has a list of importing files.
 */
function askersOf({ message, requireStack }: Missing): string[] {
  const importer = / imported from (.+)$/m.exec(message)?.[1];
  return [...(requireStack ?? []), ...(importer === undefined ? [] : [importer])].map(toPath);
}

const toPath = (place: string): string => (place.startsWith('file:') ? fileURLToPath(place) : place);

/** Whether a file (an absolute path) is part of Sluice, built or not. */
export const isOwnFile = (file: string): boolean => ownFolders.some((folder) => file.startsWith(folder));
