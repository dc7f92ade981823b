import type { Extraction } from '../extraction.ts';
import { option } from '../option.ts';
import { type FileQuery, type ReadFilesOptions, readFiles } from './files.ts';
import { type FilesRead, filesReadText, parseFilesRead } from './files-read.ts';
import type { RecordInput } from './input.ts';

/** The option that selects which of the matching files to read, for connectors whose files have a modification time. */
export const changedFilesOptions = {
  files: option.choice(['all', 'newest', 'changed'], {
    default: 'all',
    about:
      'Which matching files to read: all of them, the newest, or those that are new or whose name, time or size has changed since a run read them.',
  }),
};

/** The other connector properties that depend on {@link changedFilesOptions}. */
export const changedFilesTraits = {
  resumes:
    'With `files: changed`, the watermark contains a fingerprint of each file’s name, time and size. `sluice state set JOB \'{"since":"2026-11-21T00:00:00Z"}\'` leaves out the files modified before that time.',
  givesOnlyNewBy: ({ files }: { readonly files: string }) => (files === 'changed' ? 'files' : undefined),
  readsOnFrom: (text: string) => filesReadText(parseFilesRead(text)) ?? text,
};

/** The most recently modified file; if several files have that time, the last of them. The list must not be empty. */
export function newestFile<T extends { readonly modified: number }>(files: readonly T[]): T {
  return files.reduce((best, file) => (file.modified >= best.modified ? file : best));
}

interface ChangedFilesOptions extends ReadFilesOptions {
  /** The watermark after these files were read; undefined if the job reads all files. */
  readonly after: FilesRead | undefined;
  /** The watermark of the last run. */
  readonly watermark: string | undefined;
}

/** Like {@link readFiles}, for a job that may read only the files that changed. */
export async function readChangedFiles(
  inputs: readonly RecordInput[],
  query: FileQuery,
  { after, watermark, ...given }: ChangedFilesOptions,
): Promise<Extraction> {
  const extraction = await readFiles(inputs, query, given);
  if (after === undefined) return extraction;
  const isOnward = watermark !== undefined;
  return { ...extraction, watermark: () => filesReadText(after), unchanged: () => isOnward && inputs.length === 0 };
}
