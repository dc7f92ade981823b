import { posix } from 'node:path';
import picomatch from 'picomatch';
import { Problem } from '../../lib/problem.ts';
import type { SourceContext } from '../connector.ts';
import type { AfterDeliveryResult, DeliveredRead } from '../delivered-read.ts';
import { type OptionSet, option } from '../option.ts';
import { type DatedFile, type FilesRead, filesReadText, type PendingFile, parseFilesRead } from './files-read.ts';
import { dateFaultIn, fillDates } from './path-dates.ts';

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
interface AfterDeliveryQuery {
  readonly after_delivery: 'keep' | 'move' | 'delete';
  readonly move_to: string | undefined;
}

/** Checks whether the options can be combined. */
export function afterDeliveryFaults({
  after_delivery: action,
  move_to: to,
  files,
}: AfterDeliveryQuery & { readonly files: string }): { readonly option: string; readonly message: string }[] {
  if (action === 'keep' && to === undefined) return [];
  const fault = (name: string, message: string) => [{ option: name, message }];
  if (action !== 'move' && to !== undefined) return fault('move_to', 'requires `after_delivery: move`');
  if (files !== 'changed')
    return fault('after_delivery', 'requires `files: changed`, because a file must not be delivered twice');
  if (action === 'delete') return [];
  if (to === undefined) return fault('move_to', 'is missing; set it to a path, such as `done/{name}`');
  if (!/\{(?:name|stem)\}/.test(to.slice(to.lastIndexOf('/') + 1)))
    return fault('move_to', 'must contain {name} or {stem} after the last slash, or all files get the same name');
  const wrong = dateFaultIn(to);
  return wrong === undefined ? [] : fault('move_to', wrong);
}

/** Where a file is moved, as an absolute path if the file's path is absolute. */
function targetOf({ path, readAt }: Pick<PendingFile, 'path' | 'readAt'>, to: string, timezone: string): string {
  const { dir, base, name } = posix.parse(path);
  const dated = fillDates(to, { at: readAt, timezone });
  const named = dated.replaceAll(/\{(name|stem)\}/g, (_, part) => (part === 'name' ? base : name));
  return posix.resolve(dir, named);
}

interface FinishingQuery extends AfterDeliveryQuery {
  readonly path: string;
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
  read: readonly DatedFile[],
  { query, folder, timezone = 'UTC', readAt }: FinishOptions,
): readonly PendingFile[] | undefined {
  const { after_delivery: action, move_to: to = '', path } = query;
  if (action === 'keep') return undefined;
  const pending = read.map(({ path: own, modified, size }) => ({ path: own, modified, size, readAt }));
  const matches = picomatch(path);
  for (const file of action === 'move' ? pending : []) {
    const target = targetOf(file, to, timezone);
    const comparable = path.startsWith('/') ? target : posix.relative(folder, target);
    if (comparable === path || matches(comparable)) throw movedIntoPath(file.path, target);
  }
  return pending;
}

/** The file operations of a source. All paths are absolute. */
export interface FileFinisher {
  /** A file's size and modification time, as in {@link PendingFile}; undefined if the file doesn't exist. */
  look(path: string): Promise<Pick<DatedFile, 'modified' | 'size'> | undefined>;
  /** Moves a file, and creates its new folder if needed. Throws if a file with the new path exists. */
  move(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  close(): void | Promise<void>;
}

type Read = Omit<DeliveredRead<OptionSet>, 'query'> & { readonly query: AfterDeliveryQuery };

/**
 * The connector properties that depend on {@link afterDeliveryOptions}: moves or deletes the files that the watermark
 * lists as pending. `open` is called only if there are such files. A file that has changed since it was read is left
 * for the next run.
 */
export function finishFilesBy<S extends OptionSet>(open: (context: SourceContext<S>) => Promise<FileFinisher>) {
  return {
    actsAfterDeliveryBy: ({ after_delivery: action }: AfterDeliveryQuery) =>
      action === 'keep' ? undefined : 'after_delivery',

    isActionDue({ query, watermark, isDelivered }: Read): boolean {
      if (query.after_delivery === 'keep') return false;
      const { pending = [] } = parseFilesRead(watermark);
      return pending.some((file) => isDelivered || file.isDelivered);
    },

    async afterDelivery(context: SourceContext<S> & Read): Promise<AfterDeliveryResult> {
      const { query, watermark, isDelivered, timezone = 'UTC', signal } = context;
      const { after_delivery: action, move_to: to = '' } = query;
      const finisher = await open(context);
      try {
        const { read, ...done } = await finishAll(parseFilesRead(watermark), isDelivered, async (file) => {
          signal.throwIfAborted();
          await finish(file, finisher, action === 'move' ? targetOf(file, to, timezone) : undefined);
        });
        return { ...done, watermark: filesReadText(read) ?? watermark };
      } finally {
        await finisher.close();
      }
    },
  };
}

async function finishAll(read: FilesRead, isDelivered: boolean, act: (file: PendingFile) => Promise<void>) {
  const left: PendingFile[] = [];
  let problem: Problem | undefined;
  let actions = 0;
  let failures = 0;
  for (const file of read.pending ?? []) {
    const isDue = isDelivered || file.isDelivered === true;
    // If the server is unavailable, the other files would only have to wait for it, too.
    const isAway = problem !== undefined && problem.family !== 'job';
    if (isDue && !isAway) {
      try {
        await act(file);
        actions++;
        continue;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        problem ??= error;
        failures++;
      }
    }
    left.push(isDue ? { ...file, isDelivered: true } : file);
  }
  if (failures > 1) problem = problem?.with({ message: `${problem.message}; ${failures} files failed` });
  return { actions, read: { ...read, pending: left }, problem };
}

async function finish(file: PendingFile, finisher: FileFinisher, target: string | undefined): Promise<void> {
  const now = await finisher.look(file.path);
  // The process may have ended after the file was moved, and a partner may remove the file at any time.
  if (now === undefined || now.size !== file.size || now.modified !== file.modified) return;
  try {
    await (target === undefined ? finisher.remove(file.path) : finisher.move(file.path, target));
  } catch (error) {
    throw refused(file.path, target, error);
  }
}

function refused(path: string, target: string | undefined, error: unknown): unknown {
  const { code: system, syscall, message } = error as NodeJS.ErrnoException;
  const problem = error instanceof Problem ? error : undefined;
  if (problem === undefined && syscall === undefined) return error;
  if (problem !== undefined && (problem.family !== 'job' || problem.code.startsWith('FILES_'))) return problem;
  return new Problem({
    code: target === undefined ? 'FILES_NOT_DELETED' : 'FILES_NOT_MOVED',
    family: 'job',
    message: target === undefined ? `cannot delete ${path}` : `cannot move ${path} to ${target}`,
    seen: problem?.seen ?? problem?.message ?? system ?? message,
    next:
      target === undefined
        ? 'grant the user the right to delete files in this folder'
        : 'grant the user the right to create and delete files in both folders, which must be on the same file system',
    cause: error,
  });
}

/** The problem to report if a file can't be moved because its new path exists. */
export function moveTargetExists(path: string, target: string): Problem {
  return new Problem({
    code: 'FILES_TARGET_EXISTS',
    family: 'job',
    message: `cannot move ${path}: ${target} already exists`,
    next: 'delete or rename the existing file, or add the time to `move_to`, such as `done/{yyyyMMdd-HHmmss}-{name}`',
  });
}

function movedIntoPath(path: string, target: string): Problem {
  return new Problem({
    code: 'FILES_MOVED_INTO_PATH',
    family: 'config',
    message: `${path} would be moved to ${target}, which matches the query's path, so it would be read again`,
    next: 'set `move_to` to a folder that the path does not match',
  });
}
