import type { Extraction } from '../connector.ts';
import { option } from '../option.ts';
import { type FileQuery, readFiles } from './files.ts';
import { type FilesRead, filesReadText, parseFilesRead } from './files-read.ts';
import type { RecordInput } from './input.ts';

/** The options of a connector whose files have a time: which of those that match are read. */
export const changedFilesOptions = {
  files: option.choice(['all', 'newest', 'changed'], {
    default: 'all',
    about:
      'Which of the files that match: all, the one that was modified last, or those that no run has read in this version (name, time and size).',
  }),
};

/** What such a connector says of itself. */
export const changedFilesTraits = {
  resumes:
    'With `files: changed`, the watermark holds a fingerprint of the name, time and size of each file read. `sluice state set JOB \'{"since":"2026-11-21T00:00:00Z"}\'` leaves out the files modified before that time.',
  givesOnlyNewBy: ({ files }: { readonly files: string }) => (files === 'changed' ? 'files' : undefined),
  readsOnFrom: (text: string) => filesReadText(parseFilesRead(text)) ?? text,
};

/** Of several files the one that was modified last; of two of one time the later in the list. There has to be one. */
export function newestFile<T extends { readonly modified: number }>(files: readonly T[]): T {
  return files.reduce((best, file) => (file.modified >= best.modified ? file : best));
}

/**
 * Reads files like {@link readFiles}; where the job reads those that changed, with how far it has got `after` them. `watermark`: that
 * of the last run.
 */
export async function readChangedFiles(
  inputs: readonly RecordInput[],
  query: FileQuery,
  { after, watermark }: { readonly after: FilesRead | undefined; readonly watermark: string | undefined },
): Promise<Extraction> {
  const extraction = await readFiles(inputs, query);
  if (after === undefined) return extraction;
  const isOnward = watermark !== undefined;
  return { ...extraction, watermark: () => filesReadText(after), unchanged: () => isOnward && inputs.length === 0 };
}
