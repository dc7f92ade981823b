import { posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Found, RemoteFile } from './find.ts';
import { lookAt } from './look-at.ts';
import { make } from './problems.ts';
import type { Facts, Session } from './session.ts';

/** Files that may be read, and files that must wait. */
export interface Sorted<F> {
  readonly ready: readonly F[];
  readonly pending: readonly RemoteFile[];
}

/** A file that stayed what it was for a while. */
export interface Settled {
  readonly file: RemoteFile;
  /** What it was, by the same question that is asked again when it has been read. */
  readonly facts: Facts;
}

/** The path of the file that says that this one is complete; see the option `marker`. */
export function markerOf(path: string, marker: string): string {
  const { dir, base, name } = posix.parse(path);
  if (marker.includes('{')) return posix.join(dir, marker.replaceAll('{name}', base).replaceAll('{stem}', name));
  return marker.startsWith('.') ? `${path}${marker}` : posix.join(dir, marker);
}

/** Parts the files by whether their marker is there. */
export async function byMarker(found: Found, marker: string | undefined): Promise<Sorted<RemoteFile>> {
  if (marker === undefined) return { ready: found.files, pending: [] };
  const ready: RemoteFile[] = [];
  const pending: RemoteFile[] = [];
  const markers = new Set(found.files.map(({ path }) => markerOf(path, marker)));
  for (const file of found.files) {
    // A marker that matches the pattern is no data, and has no marker of its own.
    if (markers.has(file.path)) continue;
    ((await found.has(markerOf(file.path, marker))) ? ready : pending).push(file);
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
  const facts: (Facts | undefined)[] = [];
  for (const { path, entry } of files) {
    signal.throwIfAborted();
    const seen = await (entry === undefined ? session.stat(path) : lookAt(session, path, entry));
    facts.push(typeof seen === 'string' || 'absent' in seen ? undefined : seen);
  }
  return facts;
}

/** Whether a file is as it was, in size and in time. */
export function isSame(a: Facts | undefined, b: Facts | undefined): boolean {
  return a?.size === b?.size && a?.modified === b?.modified;
}

/** The problem of files that somebody is still writing. */
export function notComplete(files: readonly RemoteFile[], marker: string | undefined) {
  const names = files
    .slice(0, 3)
    .map(({ name }) => name)
    .join(', ');
  return make('FTP_NOT_COMPLETE', 'try_later', {
    message: `${files.length === 1 ? 'a file is' : `${files.length} files are`} not complete yet`,
    seen: names,
    next:
      marker === undefined
        ? 'the size or time changed within settle_seconds; the runner tries again'
        : `the marker is missing (${posix.basename(markerOf(files[0]!.path, marker))}); the runner tries again`,
  });
}
