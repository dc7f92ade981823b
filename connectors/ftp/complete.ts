import { posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isUploadName, uploadReason } from '#sdk';
import type { FoundFiles, RemoteFile } from './find.ts';
import { inspectFile } from './inspect-file.ts';
import type { FtpQueryValues } from './options.ts';
import type { FileFacts, Session } from './session.ts';

/** The files that match, separated into complete and incomplete ones. */
export interface Sorted<F> {
  readonly ready: readonly F[];
  readonly pending: readonly RemoteFile[];
}

/** A file that hasn't changed during the settle time. */
export interface Settled {
  readonly file: RemoteFile;
  /** The file's size and modification time, for a comparison after the read. */
  readonly facts: FileFacts;
}

/** The path of this file's marker file, see the `marker` option. */
export function markerOf(path: string, marker: string): string {
  const { dir, base, name } = posix.parse(path);
  if (marker.includes('{')) return posix.join(dir, marker.replaceAll('{name}', base).replaceAll('{stem}', name));
  return marker.startsWith('.') ? `${path}${marker}` : posix.join(dir, marker);
}

interface ReadyQuery extends Pick<FtpQueryValues, 'marker'> {
  /** The query's paths as the user wrote them. */
  readonly paths: readonly string[];
}

/** Separates files with a complete upload, including the marker file, from all other files. */
export async function byMarker(found: FoundFiles, { paths, marker }: ReadyQuery): Promise<Sorted<RemoteFile>> {
  const ready: RemoteFile[] = [];
  const pending: RemoteFile[] = [];
  const markers = new Set(marker === undefined ? [] : found.files.map((file) => markerOf(file.path, marker)));
  for (const file of found.files) {
    // If a marker file matches the pattern, it isn't data, and it needs no marker of its own.
    if (markers.has(file.path)) continue;
    const isWaiting = isUploadName(file.name, paths);
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

/** Separates files that no longer change from files that are still changing. Watches all files at the same time. */
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

/** Whether the file's size and modification time are unchanged. */
export function isSame(a: FileFacts | undefined, b: FileFacts | undefined): boolean {
  return a?.size === b?.size && a?.modified === b?.modified;
}

/** Why an unchanged file isn't ready: its name shows an unfinished upload, or its marker is missing. */
export function reasonOf({ name, path }: RemoteFile, { paths, marker = '' }: ReadyQuery): string {
  if (isUploadName(name, paths)) return uploadReason;
  return `the marker file is missing (${posix.basename(markerOf(path, marker))})`;
}
