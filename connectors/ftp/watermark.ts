import { Problem } from '#sdk';
import type { RemoteFile } from './find.ts';

/** A file by which nobody could tell it from a newer version of itself. */
type Read = readonly [path: string, modified: number, size: number];

/**
 * How far a job has read: files modified before `since` (milliseconds since 1970) are done with; of those from then on,
 * `read` names the ones that are. Servers tell times in whole seconds, so files of the newest second must be told apart
 * by name and size, and files that arrive late, or are not complete yet, stay wanted.
 */
export interface Watermark {
  readonly since: number;
  readonly read: readonly Read[];
}

/** A watermark out of its text. Throws a Problem for a text that is none. */
export function parseWatermark(text: string | undefined): Watermark {
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
      code: 'FTP_WATERMARK',
      family: 'config',
      message: 'the watermark of the job is not one of this connector',
      seen: text.slice(0, 80),
      next: 'forget it, so that the job reads all files anew: `sluice state clear JOB`',
      cause,
    });
  }
}

/** The watermark's text: the same watermark is always the same text. */
export function watermarkText({ since, read }: Watermark): string {
  const time = (at: number) => new Date(at).toISOString();
  const sorted = read.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ since: time(since), read: sorted.map(([path, at, size]) => [path, time(at), size]) });
}

/** A file whose time is known. */
export type Dated = RemoteFile & { readonly modified: number };

/** Whether a file is wanted by a job that has got this far. */
export function isWanted({ since, read }: Watermark, file: Dated): boolean {
  if (file.modified < since) return false;
  return !read.some(([path, at, size]) => path === file.path && at === file.modified && size === file.size);
}

interface Advance {
  /** Read in this run. */
  readonly read: readonly Dated[];
  /** Wanted, but not complete yet. */
  readonly pending: readonly Dated[];
  readonly lookBackSeconds: number;
}

/** The watermark after a run. It never moves beyond a file that is still to come. */
export function advanced(before: Watermark, { read, pending, lookBackSeconds }: Advance): Watermark {
  const newest = Math.max(...read.map(({ modified }) => modified), ...before.read.map(([, at]) => at));
  if (!Number.isFinite(newest)) return before;
  const oldestPending = Math.min(...pending.map(({ modified }) => modified));
  const since = Math.max(before.since, Math.min(newest - lookBackSeconds * 1000, oldestPending));
  const all = new Map(before.read.map((entry) => [entry[0], entry]));
  for (const { path, modified, size } of read) all.set(path, [path, modified, size]);
  return { since, read: [...all.values()].filter(([, at]) => at >= since) };
}
