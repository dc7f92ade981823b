import { posix } from 'node:path';
import picomatch from 'picomatch';
import { Problem } from '../../lib/problem.ts';
import { option } from '../option.ts';
import type { PendingFile, ReadFile } from './files-read.ts';
import { dateFaultIn, fillDates } from './path-dates.ts';
import { globsOf, type WrittenPath, writtenPaths } from './query-paths.ts';

/** The options that decide what happens to a file once its rows have been delivered. */
export const afterDeliveryOptions = {
  after_delivery: option.choice(['keep', 'move', 'delete'], {
    default: 'keep',
    changesRows: false,
    about:
      'What to do with a file once the service has accepted its rows: keep it, move it to `move_to`, or delete it. Requires `files: changed`.',
  }),
  move_to: option.text({
    changesRows: false,
    about:
      'Where to move a file, relative to its own folder. `{name}` is the file’s name, `{stem}` its name without the extension, `{yyyy-MM-dd}` or another pattern the time at which it was read.',
    example: 'done/{yyyy-MM}/{name}',
  }),
};

/** The values of {@link afterDeliveryOptions}. */
export interface AfterDeliveryQuery {
  readonly after_delivery: 'keep' | 'move' | 'delete';
  readonly move_to: string | undefined;
}

/** Checks whether the options can be combined. */
export function afterDeliveryFaults({
  after_delivery: action,
  move_to: to,
  files,
  path,
}: FinishingQuery & { readonly files: string }): { readonly option: string; readonly message: string }[] {
  if (action === 'keep' && to === undefined) return [];
  const fault = (name: string, message: string) => [{ option: name, message }];
  if (action !== 'move' && to !== undefined) return fault('move_to', 'requires `after_delivery: move`');
  if (files !== 'changed')
    return fault('after_delivery', 'requires `files: changed`, because a file must not be delivered twice');
  if (globsOf(path).some((glob) => picomatch(posix.basename(glob))('.sluice-1')))
    return fault('path', 'matches the hidden names that files have while they are moved or deleted');
  if (action === 'delete') return [];
  if (to === undefined) return fault('move_to', 'is missing; set it to a path, such as `done/{name}`');
  if (!/\{(?:name|stem)\}/.test(to.slice(to.lastIndexOf('/') + 1)))
    return fault('move_to', 'must contain {name} or {stem} after the last slash, or all files get the same name');
  const wrong = dateFaultIn(to) ?? placeholderFaultIn(to);
  if (wrong !== undefined) return fault('move_to', wrong);
  return writtenPaths(path).some((one) => isSampleReadAgain(one, path, to))
    ? fault('move_to', 'leads to a path that `path` matches, so files would be read again')
    : [];
}

/** Why a placeholder isn't valid, so that a typing error doesn't become a folder's name; undefined if all are. */
function placeholderFaultIn(to: string): string | undefined {
  const [unknown] = /\{[^{}]*\}?|\}/.exec(fillNames(fillDates(to, { at: 0, timezone: 'UTC' }), 'x.x')) ?? [];
  return unknown && `has "${unknown}"; allowed: {name}, {stem}, and dates such as {yyyy-MM-dd} or {HHmmss}`;
}

const sampleFolder = '/sample/folder/of/files';

/** Whether a file with a simple name that matches one of the paths would match one again after its move. */
function isSampleReadAgain(one: string, path: WrittenPath, to: string): boolean {
  const sample = fillDates(one, { at: 0, timezone: 'UTC' })
    .replaceAll('**/', '')
    .replaceAll(/\*+|\?/g, 'x')
    .replaceAll(/\{([^{},]*),[^{}]*\}/g, '$1');
  const own = posix.resolve(sampleFolder, sample);
  const places = { path, folder: sampleFolder };
  return isMatch(own, places) && isMatch(targetOf({ path: own, readAt: 0 }, to, 'UTC'), places);
}

/** Whether one of the query's paths matches a file on any day. Both may start from different folders. */
export function isMatch(
  file: string,
  { path, folder }: { readonly path: WrittenPath; readonly folder: string },
): boolean {
  return globsOf(path).some((glob) => {
    const pattern = posix.normalize(glob);
    const comparable = pattern.startsWith('/') ? file : posix.relative(folder, file);
    return comparable === pattern || picomatch(pattern)(comparable);
  });
}

/** Where a file is moved, as an absolute path if the file's path is absolute. */
export function targetOf({ path, readAt }: Pick<PendingFile, 'path' | 'readAt'>, to: string, timezone: string): string {
  const { dir, base } = posix.parse(path);
  const dated = fillDates(to, { at: readAt, timezone });
  const name = fillNames(dated, base);
  // A file named `...csv` has the stem `..`, which is the name of a folder.
  return posix.resolve(dir, /(?:^|\/)\.\.?$/.test(name) ? `${name}~` : name);
}

function fillNames(to: string, base: string): string {
  return to.replaceAll(/\{(name|stem)\}/g, (_, part) => (part === 'name' ? base : posix.parse(base).name));
}

export interface FinishingQuery extends AfterDeliveryQuery {
  readonly path: WrittenPath;
}

interface FinishOptions {
  readonly query: FinishingQuery;
  /** The absolute folder that relative paths in the query start from. */
  readonly folder: string;
  readonly timezone: string | undefined;
  /** When the files were read, in epoch milliseconds. */
  readonly readAt: number;
}

/**
 * The files that are moved or deleted once they have been delivered; undefined if files are kept.
 * @throws Problem if a moved file would match the query's path, because it would then be read again
 */
export function filesToFinish(
  read: readonly ReadFile[],
  { query, folder, timezone = 'UTC', readAt }: FinishOptions,
): readonly PendingFile[] | undefined {
  const { after_delivery: action, move_to: to = '', path } = query;
  if (action === 'keep') return undefined;
  const pending = read.map(({ path: own, modified, size, version, marker }) => {
    const known = { path: own, modified, size, readAt };
    return { ...known, ...(version === undefined ? {} : { version }), ...(marker === undefined ? {} : { marker }) };
  });
  for (const file of action === 'move' ? pending : []) {
    const target = targetOf(file, to, timezone);
    if (isMatch(target, { path, folder })) throw movedIntoPath(file.path, target);
  }
  return pending;
}

export function movedIntoPath(path: string, target: string): Problem {
  return new Problem({
    code: 'FILES_MOVED_INTO_PATH',
    family: 'config',
    message: `${path} would be moved to ${target}, which matches the query's path, so it would be read again`,
    next: 'set `move_to` to a folder that the path does not match',
  });
}
