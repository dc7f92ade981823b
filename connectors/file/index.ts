import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  afterDeliveryFaults,
  changedFilesTraits,
  defineConnector,
  discoverFiles,
  type FilesRead,
  filesToFinish,
  finishFilesBy,
  isFileWanted,
  isReadableName,
  newestFile,
  Problem,
  parseFilesRead,
  type RecordInput,
  readChangedFiles,
  recordFaults,
  withFilesRead,
} from '#sdk';
import { findFiles, unreadable } from './find.ts';
import { localFiles } from './finish-files.ts';
import { type FileQueryValues, query, source } from './options.ts';
import { reference } from './reference.ts';
import { watchFile } from './watched-input.ts';

/** Reads csv, json, jsonl, xml and xlsx files. Memory use doesn't depend on the file size. */
export default defineConnector({
  id: 'file',
  title: 'File',
  summary: 'Reads one or more csv, json, json lines, xml or xlsx files, compressed or not.',
  source,
  query,
  ...reference,
  shorthand: 'path',
  // Local files don't need a login, so no firing checks whether a login is on hold.
  account: () => undefined,
  ...changedFilesTraits,
  ...finishFilesBy<typeof source>(
    async ({ folder, source: given }, path) => localFiles({ folder: resolve(folder, given.folder ?? '.'), path }),
    (given, { folder, path }) => ({ place: 'here', pattern: resolve(folder, given.folder ?? '.', path) }),
  ),

  validate: ({ query: given }) => (given === undefined ? [] : [...afterDeliveryFaults(given), ...recordFaults(given)]),

  async check({ source: { folder }, folder: home }) {
    const path = resolve(home, folder ?? '.');
    try {
      const entries = await readdir(path, { withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).length;
      return `${path} exists and contains ${files} ${files === 1 ? 'file' : 'files'}`;
    } catch (error) {
      throw unreadable(path, error);
    }
  },

  async discover({ source: { folder }, folder: home, pattern, signal }) {
    const found = await findFiles(resolve(home, folder ?? '.'), pattern ?? '*', { none: pattern === undefined });
    const readable = pattern === undefined ? found.filter(({ name }) => isReadableName(name)) : found;
    const watched = await Promise.all(readable.map((one) => watchFile(one, signal)));
    return discoverFiles(
      watched.map(({ input }) => input),
      signal,
    );
  },

  async extract(context) {
    const { query: given, watermark, log, warn, keptColumns } = context;
    const before = parseFilesRead(watermark);
    const { inputs, after } = await selectFiles({
      ...context,
      folder: resolve(context.folder, context.source.folder ?? '.'),
      before,
    });
    log.debug('files found', { files: inputs.length });
    return readChangedFiles(inputs, given, { after, watermark, warn, keptColumns });
  },
});

/** The files that a run will read, and the new watermark after this run. */
interface Selection {
  readonly inputs: readonly RecordInput[];
  /** The new watermark; undefined if the job reads the same files in every run. */
  readonly after: FilesRead | undefined;
}

interface Selecting {
  /** Absolute path of the folder that relative paths start from. */
  readonly folder: string;
  readonly query: FileQueryValues;
  readonly before: FilesRead;
  readonly signal: AbortSignal;
  readonly timezone?: string | undefined;
}

/** The files that currently match a query. With `files: changed`, there may be no such files. */
async function selectFiles({ folder, query, before, signal, timezone }: Selecting): Promise<Selection> {
  const { path, files } = query;
  // A file that is moved or deleted after its delivery is expected to be missing until the next one arrives.
  const isMissing = query.after_delivery !== 'keep' && before.known.size > 0;
  const found = await findFiles(folder, path, { none: files === 'changed', isMissing });
  signal.throwIfAborted();
  const watched = await Promise.all(
    found.map((file) =>
      watchFile(file, signal).catch((error: unknown) => {
        // With `files: changed`, a file that was read earlier may be moved at any time.
        if (files !== 'changed' || !(error instanceof Problem) || error.seen !== 'ENOENT') throw error;
        return undefined;
      }),
    ),
  );
  const all = watched.filter((file) => file !== undefined);
  if (files === 'changed') {
    const read = all.filter((file) => isFileWanted(before, file));
    return {
      inputs: read.map(({ input }) => input),
      after: withFilesRead(before, {
        ...{ read, listed: all },
        pending: filesToFinish(read, { query, folder, timezone, readAt: Date.now() }),
      }),
    };
  }
  const chosen = files === 'newest' ? [newestFile(all)] : all;
  return { inputs: chosen.map(({ input }) => input), after: undefined };
}
