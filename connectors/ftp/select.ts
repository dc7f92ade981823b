import {
  type ConnectorLog,
  type DatedFile,
  type FilesRead,
  filesNotComplete,
  filesToFinish,
  isFileWanted,
  isTooYoung,
  isUploadName,
  newestFile,
  type Problem,
  pathsOfRun,
  type RunWarning,
  tooYoungReason,
  uploadsSkipped,
  withFilesRead,
  writtenPaths,
} from '#sdk';
import { byMarker, bySettling, markerOf, reasonOf, type Settled } from './complete.ts';
import { baseOf, type FoundFiles, findFiles, notFound, type RemoteFile } from './find.ts';
import { rememberedFacts } from './finish-files.ts';
import type { FtpQueryValues, FtpSourceValues } from './options.ts';
import { make } from './problems.ts';
import type { Session } from './session.ts';

/** A file with a known time. */
type Dated = RemoteFile & DatedFile;

/** The files that a run will read, and the new watermark after this run. */
export interface Selection {
  readonly files: readonly Settled[];
  /** The new watermark; undefined if the job reads the same files in every run. */
  readonly after: FilesRead | undefined;
}

interface Selecting {
  readonly source: FtpSourceValues;
  readonly query: FtpQueryValues;
  readonly before: FilesRead;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  readonly warn: (warning: RunWarning) => void;
  readonly timezone?: string | undefined;
  readonly logicalAt?: number | undefined;
}

/**
 * The files that currently match the query. If some files are incomplete, either the run is retried, or these files are
 * left for the next run.
 */
export async function selectFiles(session: Session, given: Selecting): Promise<Selection> {
  const { query, signal, log, warn } = given;
  const isIncremental = query.files === 'changed';
  const paths = writtenPaths(query.path);
  const found = await findAll(session, given);
  const marked = await byMarker(found, { ...query, paths });
  const uploading = marked.pending.filter(({ name }) => isUploadName(name, paths));
  if (uploading.length > 0) warn(uploadsSkipped(uploading));
  const wanted = isIncremental ? changedFiles(marked.ready, given.before) : chosen(marked.ready, query.files);
  const young = query.min_age === undefined ? [] : wanted.map(dated).filter((file) => isTooYoung(file, query.min_age));
  if (young.length > 0 && !isIncremental) throw filesNotComplete(young, tooYoungReason(young, query.min_age));
  const isYoung = new Set(young.map(({ path }) => path));
  const old = wanted.filter(({ path }) => !isYoung.has(path));
  const settled = await bySettling(old, { session, seconds: query.settle_seconds, signal });
  const waiting = isIncremental ? changedFiles(marked.pending, given.before) : marked.pending;
  log.debug('files found', {
    found: found.files.length,
    chosen: settled.ready.length,
    pending: waiting.length + young.length + settled.pending.length,
  });
  if (isIncremental) return incremental(settled.ready, found.files.map(dated), { ...given, home: session.home });
  const isMissing = settled.pending.length > 0 || (settled.ready.length === 0 && waiting.length > 0);
  if (isMissing)
    throw settled.pending.length > 0
      ? filesNotComplete(settled.pending, 'the size or modification time changed within settle_seconds')
      : filesNotComplete(waiting, reasonOf(waiting[0]!, { ...query, paths }));
  return { files: settled.ready, after: undefined };
}

/** The files that match the query's paths. */
async function findAll(session: Session, { source, query, before, log, warn, ...run }: Selecting): Promise<FoundFiles> {
  const { folder } = source;
  // A file that is moved or deleted after its delivery is expected to be missing until the next one arrives.
  const isMissing = query.after_delivery !== 'keep' && before.known.size > 0;
  const finding = { folder, none: query.files === 'changed', isMissing, log, warn };
  const paths = pathsOfRun(query, run);
  const found: FoundFiles[] = [];
  for (const path of paths) found.push(await findFiles(session, { ...finding, path }));
  if (found.length === 1) return found[0]!;
  const files = new Map(found.flatMap((one) => one.files).map((file) => [file.path, file]));
  if (files.size === 0 && !finding.none) {
    const names = paths.map(({ path }) => path);
    const base = baseOf(session.home, { folder, path: names[0]! });
    throw notFound(base, names.join(', '), 'no file exists for any of these days');
  }
  return { files: [...files.values()], has: (path) => found[0]!.has(path) };
}

function incremental(
  ready: readonly Settled[],
  listed: readonly Dated[],
  { source: { folder }, query, before, timezone, home }: Selecting & { readonly home: string },
): Selection {
  const read = ready.map(({ file }) => dated(file));
  const { marker } = query;
  const seen = ready.map(({ file: { path, entry }, facts }) => ({
    ...{ path, ...rememberedFacts({ size: facts.size, modified: facts.modified ?? entry?.modified }) },
    ...(marker === undefined ? {} : { marker: markerOf(path, marker) }),
  }));
  const base = baseOf(home, { folder, path: writtenPaths(query.path)[0]! });
  const pending = filesToFinish(seen, { query, folder: base, timezone, readAt: Date.now() });
  return { files: ready, after: withFilesRead(before, { read, listed, pending }) };
}

function chosen(files: readonly RemoteFile[], which: FtpQueryValues['files']): readonly RemoteFile[] {
  if (which !== 'newest' || files.length < 2) return files;
  return [newestFile(files.map(dated))];
}

function changedFiles(files: readonly RemoteFile[], before: FilesRead): Dated[] {
  return files.map(dated).filter((file) => isFileWanted(before, file));
}

function dated(file: RemoteFile): Dated {
  const { modified, size = 0 } = file;
  if (modified !== undefined) return { ...file, modified, size };
  throw noTimes(file.name);
}

function noTimes(name: string): Problem {
  return make('FTP_NO_TIMES', 'config', {
    message: 'the server does not report modification times (neither MLSD nor MDTM)',
    seen: name,
    next: 'use `files: all` and a path that matches only the files you need',
  });
}
