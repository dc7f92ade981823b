import { type FilesRead, isFileWanted, newestFile, type RecordInput, withFilesRead } from '#sdk';
import { findFiles } from './find.ts';
import type { FileQueryValues } from './options.ts';
import { watchFile } from './watched-input.ts';

/** The files that a run reads, and the watermark after it. */
interface Selection {
  readonly inputs: readonly RecordInput[];
  /** Undefined if the job reads the same files in each run. */
  readonly after: FilesRead | undefined;
}

interface Selecting {
  /** Absolute path of the folder that relative paths start from. */
  readonly folder: string;
  readonly query: FileQueryValues;
  readonly before: FilesRead;
  readonly signal: AbortSignal;
}

/** The files that currently match a query. With `files: changed`, there may be none. */
export async function selectFiles({ folder, query, before, signal }: Selecting): Promise<Selection> {
  const { path, files } = query;
  const found = await findFiles(folder, path, { none: files === 'changed' });
  signal.throwIfAborted();
  const all = await Promise.all(found.map((file) => watchFile(file, signal)));
  if (files === 'changed') {
    const read = all.filter((file) => isFileWanted(before, file));
    return {
      inputs: read.map(({ input }) => input),
      after: withFilesRead(before, { read, listed: all }),
    };
  }
  const chosen = files === 'newest' ? [newestFile(all)] : all;
  return { inputs: chosen.map(({ input }) => input), after: undefined };
}
