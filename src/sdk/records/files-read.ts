import { Problem } from '../../lib/problem.ts';

/** A file by which nobody could tell it from a newer version of itself. */
type Read = readonly [path: string, modified: number, size: number];

/**
 * How far a job has read: files modified before `since` (milliseconds since 1970) are done with; of those from then on,
 * `read` names the ones that are. Many servers tell times in whole seconds, so files of the newest second must be told apart
 * by name and size, and files that arrive late, or are not complete yet, stay wanted.
 */
export interface FilesRead {
  readonly since: number;
  readonly read: readonly Read[];
}

/** How far a job has read, out of the text of its watermark. Throws a Problem for a text that is none. */
export function parseFilesRead(text: string | undefined): FilesRead {
  if (text === undefined) return { since: Number.NEGATIVE_INFINITY, read: [] };
  try {
    const { since, read } = JSON.parse(text) as { since: string; read: [string, string, number][] };
    const at = (time: string) => {
      const value = Date.parse(time);
      if (Number.isNaN(value)) throw new Error('no time');
      return value;
    };
    return { since: at(since), read: read.map(([path, time, size]) => [path, at(time), size]) };
  } catch (cause) {
    throw new Problem({
      code: 'FILES_WATERMARK',
      family: 'config',
      message: 'the watermark of the job is not one of this connector',
      seen: text.slice(0, 80),
      next: 'forget it, so that the job reads all files anew: `sluice state clear JOB`',
      cause,
    });
  }
}

/** The same as the text of a watermark: always the same text for the same files. Undefined while no file was read. */
export function filesReadText({ since, read }: FilesRead): string | undefined {
  if (!Number.isFinite(since)) return undefined;
  const time = (at: number) => new Date(at).toISOString();
  const sorted = read.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ since: time(since), read: sorted.map(([path, at, size]) => [path, time(at), size]) });
}

/** A file whose time (milliseconds since 1970) is known. */
export interface DatedFile {
  readonly path: string;
  readonly modified: number;
  readonly size: number;
}

/** Whether a file is wanted by a job that has got this far. */
export function isFileWanted({ since, read }: FilesRead, file: DatedFile): boolean {
  if (file.modified < since) return false;
  return !read.some(([path, at, size]) => path === file.path && at === file.modified && size === file.size);
}

interface Advance {
  /** Read in this run. */
  readonly read: readonly DatedFile[];
  /** Wanted, but not complete yet. */
  readonly pending: readonly DatedFile[];
  readonly lookBackSeconds: number;
}

/** How far a job has read after a run. It never moves beyond a file that is still to come. */
export function withFilesRead(before: FilesRead, { read, pending, lookBackSeconds }: Advance): FilesRead {
  const newest = Math.max(...read.map(({ modified }) => modified), ...before.read.map(([, at]) => at));
  if (!Number.isFinite(newest)) return before;
  const oldestPending = Math.min(...pending.map(({ modified }) => modified));
  const since = Math.max(before.since, Math.min(newest - lookBackSeconds * 1000, oldestPending));
  const all = new Map(before.read.map((entry) => [entry[0], entry]));
  for (const { path, modified, size } of read) all.set(path, [path, modified, size]);
  return { since, read: [...all.values()].filter(([, at]) => at >= since) };
}
