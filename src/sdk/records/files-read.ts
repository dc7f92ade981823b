import { hash } from 'node:crypto';
import { Problem } from '../../lib/problem.ts';
import { cutText } from '../../lib/redact.ts';

/** How many files that are no longer listed stay remembered: a folder that is empty for a while (unmounted) is not new. */
const maxGone = 10_000;

/** The length of one fingerprint in the watermark: 64 bits, in base64. */
const fingerprintLength = 11;

/**
 * Which files a job has read, file by file. No time bounds it: files keep their time when they are copied, and clocks are
 * wrong, so an old time says nothing about whether a file is new.
 */
export interface FilesRead {
  /** What a person set with `sluice state set`: files modified before (milliseconds since 1970) are done with. */
  readonly since?: number;
  /** Fingerprints of the files read, in the order in which they were read. */
  readonly known: ReadonlySet<string>;
}

/** A file whose time (milliseconds since 1970) is known. */
export interface DatedFile {
  readonly path: string;
  readonly modified: number;
  readonly size: number;
}

/** Which files a job has read, out of the text of its watermark. Throws a Problem for a text that is none. */
export function parseFilesRead(text: string | undefined): FilesRead {
  if (text === undefined) return { known: new Set() };
  try {
    const { since, known = '' } = JSON.parse(text) as { since?: string; known?: string };
    if (since === undefined && known === '') throw new Error('neither a time nor files');
    if (known.length % fingerprintLength > 0) throw new Error('cut off');
    return { since: since === undefined ? undefined : timeOf(since), known: new Set(known.match(/.{11}/g)) };
  } catch (cause) {
    throw new Problem({
      code: 'FILES_WATERMARK',
      family: 'config',
      message: 'the watermark of the job is from another connector',
      seen: cutText(text, 80),
      allowed: '{"since":"2026-11-21T00:00:00Z"}: read the files modified from then on',
      next: 'clear it to read all files again: `sluice state clear JOB`',
      cause,
    });
  }
}

function timeOf(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new Error('not a time');
  return time;
}

/** The same as the text of a watermark: always the same text for the same files. Undefined while no file was read. */
export function filesReadText({ since, known }: FilesRead): string | undefined {
  if (since === undefined && known.size === 0) return undefined;
  return JSON.stringify({
    since: since === undefined ? undefined : new Date(since).toISOString(),
    files: known.size,
    known: [...known].join(''),
  });
}

/** A newer version of a file has another size or another time. */
function fingerprintOf({ path, modified, size }: DatedFile): string {
  return hash('sha256', `${path}\0${modified}\0${size}`, 'base64url').slice(0, fingerprintLength);
}

/** Whether a file is wanted by a job that has read these. */
export function isFileWanted({ since, known }: FilesRead, file: DatedFile): boolean {
  return !(since !== undefined && file.modified < since) && !known.has(fingerprintOf(file));
}

interface Advance {
  /** Read in this run. */
  readonly read: readonly DatedFile[];
  /** All files that match now, read or not. */
  readonly listed: readonly DatedFile[];
}

/** Which files a job has read after a run. */
export function withFilesRead({ known: before, ...rest }: FilesRead, { read, listed }: Advance): FilesRead {
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
  return { ...rest, known };
}
