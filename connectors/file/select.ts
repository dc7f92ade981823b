import { type FilesRead, isFileWanted, newestFile, type RecordInput, withFilesRead } from '#sdk';
import { findFiles } from './find.ts';
import type { FileQueryValues } from './options.ts';
import { watchFile } from './watched-input.ts';

/** What a run reads, and how far the job has got when it has. */
interface Selection {
  readonly inputs: readonly RecordInput[];
  /** Undefined where the job reads the same files each time. */
  readonly after: FilesRead | undefined;
}

interface Selecting {
  /** Absolute: the folder that the path is meant from. */
  readonly folder: string;
  readonly query: FileQueryValues;
  readonly before: FilesRead;
  readonly signal: AbortSignal;
}

/** The files that a query means now. Where it asks for those that changed, none is an answer like any other. */
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
