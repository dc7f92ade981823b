import { posix } from 'node:path';
import picomatch from 'picomatch';
import { option } from '../option.ts';
import { Moment } from '../service/moment.ts';
import { datedGlob, dateFaultIn, fillDates, hasDate } from './path-dates.ts';

/** The query's path, or several of them. */
export type WrittenPath = string | readonly string[];

/** The `query` options that select files by their paths. */
export const pathOptions = {
  path: option.schema<WrittenPath>(
    {
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
      ],
    },
    {
      required: true,
      about:
        'Path of the file, or a glob for several files with the same columns; `**` matches any number of folders. A list has several of them, which are read one after another. `{yyyy-MM-dd}` or another pattern is the date of the run.',
      example: '2026/**/orders-*.csv.gz',
    },
  ),
  offset: option.text({
    pattern: '^-?\\d{1,9}(mo|[smhdwy])$',
    about: 'What to add to the time of the run for the dates in `path`: `-1d` means yesterday.',
    example: '-1d',
  }),
  days: option.integer({
    default: 1,
    minimum: 1,
    maximum: 366,
    about:
      'How many days the dates in `path` go back: 7 means the day of the run (with `offset`) and the 6 days before.',
  }),
};

/** The values of {@link pathOptions}. */
export interface PathQuery {
  readonly path: WrittenPath;
  readonly offset: string | undefined;
  readonly days: number;
}

/** A path or glob whose dates are filled in. */
export interface QueryPath {
  readonly path: string;
  /** The part without wildcards and dates: a folder that must exist even if there is no file. */
  readonly top: string;
  /** Whether the path is one of several days, which need not all have a file. */
  readonly isOptional: boolean;
}

interface RunTime {
  /** The run's logical time in epoch milliseconds; undefined if it's the current time. */
  readonly logicalAt?: number | undefined;
  /** IANA time zone. */
  readonly timezone?: string | undefined;
}

/** The paths of a run, in reading order; earlier days come first. */
export function pathsOfRun(query: PathQuery & { readonly files: string }, time: RunTime): readonly QueryPath[] {
  const filled = new Map<string, QueryPath>();
  for (const written of writtenPaths(query.path)) {
    const isOptional = hasDate(written) && query.days > 1 && query.files !== 'all';
    // Without native dates and times, loading them takes longer than a run that finds nothing new.
    for (const own of hasDate(written) ? pathsOfDays(written, query, time) : [written])
      filled.set(own, filled.get(own) ?? { path: own, top: topOf(written), isOptional });
  }
  return [...filled.values()];
}

function pathsOfDays(
  written: string,
  { offset = '0d', days }: PathQuery,
  { logicalAt, timezone = 'UTC' }: RunTime,
): string[] {
  const last = Moment.ofRun(timezone, logicalAt).plus(offset);
  return Array.from({ length: days }, (_, i) => {
    const { at } = last.plus(`-${days - 1 - i}d`);
    return fillDates(written, { at: at.epochMilliseconds, timezone });
  });
}

/** The paths as the user wrote them. */
export function writtenPaths(path: WrittenPath): readonly string[] {
  return typeof path === 'string' ? [path] : path;
}

/** Globs that match the files of any run. */
export function globsOf(path: WrittenPath): readonly string[] {
  return writtenPaths(path).map(datedGlob);
}

/** The folders of a path before the first one with a wildcard or a date. */
export function topOf(written: string): string {
  const folders = written.split('/').slice(0, -1);
  const first = folders.findIndex((name) => /[{}]/.test(name) || picomatch.scan(name).isGlob);
  const fixed = first === -1 ? folders : folders.slice(0, first);
  return fixed.length === 1 && fixed[0] === '' ? '/' : posix.normalize(fixed.join('/'));
}

/** Checks whether the options can be combined. */
export function pathFaults({ path, offset, days }: PathQuery): { readonly option: string; readonly message: string }[] {
  const paths = writtenPaths(path);
  const fault = (name: string, message: string) => [{ option: name, message }];
  if (paths.some((one) => one === '')) return fault('path', 'is empty');
  if (paths.some((one) => /[\r\n\0]/.test(one))) return fault('path', 'must not contain a line break');
  const wrong = paths.map(dateFaultIn).find((message) => message !== undefined);
  if (wrong !== undefined) return fault('path', wrong);
  if (paths.some(hasDate)) return [];
  const needs = 'requires a date in `path`, such as `orders-{yyyy-MM-dd}.csv`';
  return [...(offset === undefined ? [] : fault('offset', needs)), ...(days === 1 ? [] : fault('days', needs))];
}
