import { hash } from 'node:crypto';
import { Problem } from '../../lib/problem.ts';
import { cutText } from '../../lib/redact.ts';

/**
 * Maximum number of remembered files that are no longer listed. They're remembered because, after a folder was
 * temporarily empty (unmounted), its files would otherwise count as new.
 */
const maxGone = 10_000;

/** The length of a fingerprint in the watermark: 64 bits, in base64. */
const fingerprintLength = 11;

/**
 * The files that a job has read, listed individually. Remembering only the latest modification time isn't enough: a
 * file with an old time may be new, because copied files keep their times and clocks may be wrong.
 */
export interface FilesRead {
  /** Files modified before this time (milliseconds since 1970) are skipped. Set only by `sluice state set`. */
  readonly since?: number;
  /** Fingerprints of the files read, in reading order. */
  readonly known: ReadonlySet<string>;
  /** The files that are moved or deleted once their rows have been delivered, in reading order. */
  readonly pending?: readonly PendingFile[];
}

/** A file with a known modification time (milliseconds since 1970). */
export interface DatedFile {
  readonly path: string;
  readonly modified: number;
  readonly size: number;
}

/** A file that was read, with what is compared and removed after its delivery. */
export interface ReadFile extends DatedFile {
  /** Differs for a replaced file, even one with the same time and size. Undefined if the source can't tell. */
  readonly version?: string;
  /** Path of the marker file that is removed before this file. */
  readonly marker?: string;
}

/** A file that was read, and that is moved or deleted once its rows have been delivered. */
export interface PendingFile extends ReadFile {
  /** When it was read (milliseconds since 1970). */
  readonly readAt: number;
  /** Set if its rows were delivered, but moving or deleting it failed. */
  readonly isDelivered?: boolean;
}

/** Parses a watermark. Throws a Problem if the text is invalid. */
export function parseFilesRead(text: string | undefined): FilesRead {
  if (text === undefined) return { known: new Set() };
  try {
    const { since, known = '', pending } = JSON.parse(text) as Stored;
    if (since === undefined && known === '') throw new Error('neither a time nor files');
    if (known.length % fingerprintLength > 0) throw new Error('cut off');
    return {
      since: since === undefined ? undefined : timeOf(since),
      known: new Set(known.match(/.{11}/g)),
      ...(pending === undefined ? {} : { pending }),
    };
  } catch (cause) {
    throw new Problem({
      code: 'FILES_WATERMARK',
      family: 'config',
      message: "the job's watermark was written by a different connector",
      seen: cutText(text, 80),
      allowed: '{"since":"2026-11-21T00:00:00Z"}, to read the files modified since then',
      next: 'to read all files again, clear the watermark: `sluice state clear JOB`',
      cause,
    });
  }
}

interface Stored {
  readonly since?: string;
  readonly known?: string;
  readonly pending?: readonly PendingFile[];
}

function timeOf(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new Error('not a time');
  return time;
}

/** Formats a watermark; the same files yield the same text. Undefined if no file was read. */
export function filesReadText({ since, known, pending = [] }: FilesRead): string | undefined {
  if (since === undefined && known.size === 0) return undefined;
  return JSON.stringify({
    since: since === undefined ? undefined : new Date(since).toISOString(),
    files: known.size,
    known: [...known].join(''),
    pending: pending.length === 0 ? undefined : pending,
  });
}

/**
 * A file's fingerprint. It includes the size and the modification time, so that a changed file has a different
 * fingerprint.
 */
function fingerprintOf({ path, modified, size }: DatedFile): string {
  return hash('sha256', `${path}\0${modified}\0${size}`, 'base64url').slice(0, fingerprintLength);
}

/** Whether a job that has read the known files must read this file. */
export function isFileWanted({ since, known }: FilesRead, file: DatedFile): boolean {
  return !(since !== undefined && file.modified < since) && !known.has(fingerprintOf(file));
}

interface Advance {
  /** Files read in this run. */
  readonly read: readonly DatedFile[];
  /** All matching files, read or not. */
  readonly listed: readonly DatedFile[];
  /** The files of this run that are moved or deleted after the delivery; undefined if the query keeps its files. */
  readonly pending?: readonly PendingFile[] | undefined;
}

/** The files read after a run. */
export function withFilesRead(former: FilesRead, { read, listed, pending }: Advance): FilesRead {
  const { known: before, pending: waiting = [], ...rest } = former;
  const known = new Set(before);
  for (const file of read) known.add(fingerprintOf(file));
  const present = new Set(listed.map(fingerprintOf));
  let tooMany = known.size - present.size - maxGone;
  for (const print of known) {
    if (tooMany <= 0) break;
    if (present.has(print)) continue;
    known.delete(print);
    tooMany -= 1;
  }
  if (pending === undefined) return { ...rest, known };
  const again = new Set(pending.map(({ path }) => path));
  return { ...rest, known, pending: [...waiting.filter(({ path }) => !again.has(path)), ...pending] };
}
