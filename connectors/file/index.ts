import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  afterDeliveryFaults,
  changedFilesTraits,
  defineConnector,
  discoverFiles,
  type FilesRead,
  filesNotComplete,
  filesToFinish,
  finishFilesBy,
  isFileWanted,
  isReadableName,
  isTooYoung,
  isUploadName,
  newestFile,
  Problem,
  parseFilesRead,
  pathFaults,
  pathsOfRun,
  type RecordInput,
  type RunWarning,
  readChangedFiles,
  recordFaults,
  tooYoungReason,
  uploadReason,
  uploadsSkipped,
  withFilesRead,
  writtenPaths,
} from '#sdk';
import { type FoundFile, findFiles, notFound, unreadable } from './find.ts';
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

  validate: ({ query: given }) =>
    given === undefined ? [] : [...pathFaults(given), ...afterDeliveryFaults(given), ...recordFaults(given)],

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

  async discover(context) {
    const { source, folder: home, pattern, signal } = context;
    const path = { path: pattern ?? '*', top: '.', isOptional: pattern === undefined };
    const found = await findFiles(resolve(home, source.folder ?? '.'), path);
    const readable = pattern === undefined ? found.filter(({ name }) => isReadableName(name)) : found;
    const watched = await Promise.all(readable.map((one) => watchFile(one, signal)));
    return discoverFiles(
      watched.map(({ input }) => input),
      { signal, scratch: () => context.scratch },
    );
  },

  async extract(context) {
    const { query: given, watermark, log, warn, keptColumns, preview } = context;
    const before = parseFilesRead(watermark);
    const { inputs, after } = await selectFiles({
      ...context,
      folder: resolve(context.folder, context.source.folder ?? '.'),
      before,
    });
    log.debug('files found', { files: inputs.length });
    const isPreview = preview !== undefined;
    const scratch = () => context.scratch;
    return readChangedFiles(inputs, given, { after, watermark, warn, keptColumns, isPreview, scratch });
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
  readonly warn: (warning: RunWarning) => void;
  readonly timezone?: string | undefined;
  readonly logicalAt?: number | undefined;
}

/** The files that currently match a query. With `files: changed`, there may be no such files. */
async function selectFiles(given: Selecting): Promise<Selection> {
  const { folder, query, before, signal, timezone } = given;
  const { files, min_age } = query;
  const found = await findAll(given);
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
    const read = all.filter((file) => isFileWanted(before, file) && !isTooYoung(file, min_age));
    return {
      inputs: read.map(({ input }) => input),
      after: withFilesRead(before, {
        ...{ read, listed: all },
        pending: filesToFinish(read, { query, folder, timezone, readAt: Date.now() }),
      }),
    };
  }
  const chosen = files === 'newest' ? [newestFile(all)] : all;
  const young = chosen.filter((file) => isTooYoung(file, min_age));
  if (young.length > 0)
    throw filesNotComplete(
      young.map(({ input }) => input),
      tooYoungReason(young, min_age),
    );
  return { inputs: chosen.map(({ input }) => input), after: undefined };
}

/** The files that match the query's paths, except for unfinished uploads. */
async function findAll({ folder, query, before, signal, warn, ...run }: Selecting): Promise<FoundFile[]> {
  const { files, after_delivery } = query;
  // A file that is moved or deleted after its delivery is expected to be missing until the next one arrives.
  const isMissing = after_delivery !== 'keep' && before.known.size > 0;
  const paths = pathsOfRun(query, run);
  const found = new Map<string, FoundFile>();
  for (const path of paths) {
    for (const file of await findFiles(folder, path, { none: files === 'changed', isMissing }))
      found.set(file.path, file);
    signal.throwIfAborted();
  }
  const isUploading = ({ name }: FoundFile) => isUploadName(name, writtenPaths(query.path));
  const [uploading, complete] = [
    [...found.values()].filter(isUploading),
    [...found.values()].filter((one) => !isUploading(one)),
  ];
  if (uploading.length > 0) warn(uploadsSkipped(uploading));
  if (complete.length > 0 || files === 'changed') return complete;
  if (uploading.length > 0) throw filesNotComplete(uploading, uploadReason);
  throw notFound(folder, paths.map(({ path }) => path).join(', '), 'no file exists for any of these days');
}
