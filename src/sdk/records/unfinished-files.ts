import { Problem } from '../../lib/problem.ts';
import type { RunWarning } from '../../lib/run-warnings.ts';
import { spanOf } from '../../lib/span.ts';
import { option } from '../option.ts';
import type { DatedFile } from './files-read.ts';

/** The `query` option for files that other programs write in place. */
export const minAgeOption = {
  min_age: option.text({
    pattern: '^(\\d{1,9}[smhdw])+$',
    about:
      'How old a file’s modification time must be before the file counts as complete, for files that are written slowly without being renamed.',
    example: '60s',
  }),
};

/** Extensions that WinSCP, rclone, browsers and many scripts give to files while they're being written. */
const uploadEnding = /\.(?:part|filepart|partial|tmp)$/i;

/**
 * Whether the file's name shows that it isn't complete. Names are exempt if one of the query's paths has such an
 * extension.
 */
export function isUploadName(name: string, paths: readonly string[]): boolean {
  return uploadEnding.test(name) && !paths.some((path) => uploadEnding.test(path));
}

/** Whether a file is younger than `min_age`. Its time (epoch milliseconds) may be in the future if clocks differ. */
export function isTooYoung({ modified }: Pick<DatedFile, 'modified'>, minAge: string | undefined): boolean {
  return minAge !== undefined && modified > Date.now() - spanOf(minAge);
}

interface Named {
  readonly name: string;
}

/** The warning about files that were skipped because their names show that the upload isn't finished. */
export function uploadsSkipped(files: readonly Named[]): RunWarning {
  return {
    code: 'FILES_UPLOADING',
    message: 'files were skipped because their names mark unfinished uploads',
    seen: namesOf(files),
    next: 'delete what failed uploads left behind; to read such files, add their extension to the path',
  };
}

/** The problem to report for files that are still being written. `reason` says why they count as such. */
export function filesNotComplete(files: readonly Named[], reason: string): Problem {
  return new Problem({
    code: 'FILES_NOT_COMPLETE',
    family: 'try_later',
    message: `${files.length === 1 ? 'a file is' : `${files.length} files are`} not complete yet`,
    seen: namesOf(files),
    next: `${reason}; Sluice retries the run automatically`,
  });
}

/** The reason for files whose names show that they aren't complete. */
export const uploadReason = 'the name marks an unfinished upload';

/** The reason for files that are younger than `min_age`. */
export function tooYoungReason(files: readonly Pick<DatedFile, 'modified'>[], minAge = ''): string {
  const newest = Math.max(...files.map(({ modified }) => modified));
  const time = new Date(newest).toISOString();
  return newest > Date.now()
    ? `the modification time is in the future (${time}), so check the clocks`
    : `the modification time (${time}) is less than ${minAge} ago`;
}

function namesOf(files: readonly Named[]): string {
  return files
    .slice(0, 3)
    .map(({ name }) => name)
    .join(', ');
}
