import { posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Problem, RunWarning } from '#sdk';
import type { FoundFiles, RemoteFile } from './find.ts';
import { inspectFile } from './inspect-file.ts';
import type { FtpQueryValues } from './options.ts';
import { make } from './problems.ts';
import type { FileFacts, Session } from './session.ts';

/** Files that may be read, and files that must wait. */
export interface Sorted<F> {
  readonly ready: readonly F[];
  readonly pending: readonly RemoteFile[];
}

/** A file that has not changed for a while. */
export interface Settled {
  readonly file: RemoteFile;
  /** What it was, by the same question that is asked again when it has been read. */
  readonly facts: FileFacts;
}

/** The path of the file that says that this one is complete; see the option `marker`. */
export function markerOf(path: string, marker: string): string {
  const { dir, base, name } = posix.parse(path);
  if (marker.includes('{')) return posix.join(dir, marker.replaceAll('{name}', base).replaceAll('{stem}', name));
  return marker.startsWith('.') ? `${path}${marker}` : posix.join(dir, marker);
}

/** What WinSCP, rclone and browsers call a file until it is complete. */
const uploadEnding = /\.(?:part|filepart|partial)$/i;

/** Whether the name says that the file is still being uploaded; not if the pattern names such files. */
export function isUploading({ name, entry }: RemoteFile, pattern: string): boolean {
  return entry !== undefined && uploadEnding.test(name) && !uploadEnding.test(pattern);
}

/** Files under the name of an unfinished upload are not data yet. */
export function stillUploading(files: readonly RemoteFile[]): RunWarning {
  return {
    code: 'FTP_UPLOADING',
    message: 'files are left out because their names say that they are still being uploaded',
    seen: namesOf(files),
    next: 'remove the remains of broken uploads, or give the ending in the path to read such files',
  };
}

type ReadyQuery = Pick<FtpQueryValues, 'path' | 'marker'>;

/** Parts the files by whether they are uploaded, and their marker is there. */
export async function byMarker(found: FoundFiles, { path, marker }: ReadyQuery): Promise<Sorted<RemoteFile>> {
  const ready: RemoteFile[] = [];
  const pending: RemoteFile[] = [];
  const markers = new Set(marker === undefined ? [] : found.files.map((file) => markerOf(file.path, marker)));
  for (const file of found.files) {
    // A marker that matches the pattern is no data, and has no marker of its own.
    if (markers.has(file.path)) continue;
    const isWaiting = isUploading(file, path);
    const isMarked = marker === undefined || (await found.has(markerOf(file.path, marker)));
    (isMarked && !isWaiting ? ready : pending).push(file);
  }
  return { ready, pending };
}

interface Settling {
  readonly session: Session;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Parts the files by whether they stay what they are for a while. All are watched at the same time. */
export async function bySettling(
  files: readonly RemoteFile[],
  { session, seconds, signal }: Settling,
): Promise<Sorted<Settled>> {
  const first = await look(session, files, signal);
  if (seconds > 0 && files.length > 0) await wait(seconds * 1000, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
  const second = seconds > 0 ? await look(session, files, signal) : first;
  const ready: Settled[] = [];
  const pending: RemoteFile[] = [];
  for (const [i, file] of files.entries()) {
    const facts = second[i];
    if (facts !== undefined && isSame(first[i], facts)) ready.push({ file, facts });
    else pending.push(file);
  }
  return { ready, pending };
}

async function look(session: Session, files: readonly RemoteFile[], signal: AbortSignal) {
  const facts: (FileFacts | undefined)[] = [];
  for (const { path, entry } of files) {
    signal.throwIfAborted();
    const seen = await (entry === undefined ? session.stat(path) : inspectFile(session, path, entry));
    facts.push(typeof seen === 'string' || 'absent' in seen ? undefined : seen);
  }
  return facts;
}

/** Whether a file is as it was, in size and in time. */
export function isSame(a: FileFacts | undefined, b: FileFacts | undefined): boolean {
  return a?.size === b?.size && a?.modified === b?.modified;
}

/** Why a file is not ready though it did not change: its name, or the marker that is missing. */
export function reasonOf(file: RemoteFile, { path, marker = '' }: ReadyQuery): string {
  if (isUploading(file, path)) return 'the name is that of an unfinished upload';
  return `the marker is missing (${posix.basename(markerOf(file.path, marker))})`;
}

/** The problem of files that are still being written. */
export function notComplete(
  files: readonly RemoteFile[],
  reason = 'the size or time changed within settle_seconds',
): Problem {
  return make('FTP_NOT_COMPLETE', 'try_later', {
    message: `${files.length === 1 ? 'a file is' : `${files.length} files are`} not complete yet`,
    seen: namesOf(files),
    next: `${reason}; the runner tries again`,
  });
}

function namesOf(files: readonly RemoteFile[]): string {
  return files
    .slice(0, 3)
    .map(({ name }) => name)
    .join(', ');
}
