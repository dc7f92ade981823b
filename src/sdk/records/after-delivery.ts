import { Problem } from '../../lib/problem.ts';
import type { SourceContext } from '../connector.ts';
import type { AfterDeliveryResult, DeliveredRead } from '../delivered-read.ts';
import type { OptionSet, OptionValues } from '../option.ts';
import {
  type AfterDeliveryQuery,
  type FinishingQuery,
  isMatch,
  movedIntoPath,
  targetOf,
} from './after-delivery-options.ts';
import { type FilesRead, filesReadText, type PendingFile, parseFilesRead, type ReadFile } from './files-read.ts';
import { globsOf, type WrittenPath } from './query-paths.ts';
import { type FilePattern, mayShareFiles } from './shared-files.ts';

/** The file operations of a source. All paths are absolute. */
export interface FileFinisher {
  /** The absolute folder that relative paths in the query start from. */
  readonly folder: string;
  /** A file's facts, as in {@link PendingFile}; undefined if the file doesn't exist. */
  look(path: string): Promise<Pick<ReadFile, 'modified' | 'size' | 'version'> | undefined>;
  /** Whether both paths are the same file, because an earlier process ended in the middle of a move. */
  isHalfMoved?(from: string, to: string): Promise<boolean>;
  /**
   * Completes or undoes what an earlier process has begun with a file that is no longer at its path. `to` is undefined
   * if the file is deleted. Returns false if there was nothing to complete.
   */
  resume(file: PendingFile, to: string | undefined): Promise<boolean>;
  /**
   * Moves a file, and creates its new folder if needed. Throws if a file with the new path exists. Returns false, and
   * leaves the path alone, if a new file has replaced the file in the meantime.
   */
  move(file: PendingFile, to: string): Promise<boolean>;
  /** Deletes a file. Returns false, and leaves the path alone, if a new file has replaced the file in the meantime. */
  remove(file: PendingFile): Promise<boolean>;
  /** Deletes a file's marker, if it exists. Returns whether it did. */
  removeMarker(path: string): Promise<boolean>;
  close(): void | Promise<void>;
}

/** The number of consecutive failures after which the other files have to wait. They would probably fail, too. */
const maxFailures = 10;

interface FilesInput<S extends OptionSet> {
  readonly source: OptionValues<S>;
  readonly query: { readonly path: WrittenPath };
  readonly folder: string;
}

type Read = Omit<DeliveredRead<OptionSet>, 'query'> & { readonly query: FinishingQuery };

/**
 * The connector properties that depend on {@link afterDeliveryOptions}: moves or deletes the files that the watermark
 * lists as pending. `open` is called only if there are such files; `patternOf` describes what one of a query's paths
 * reads. A file that has changed since it was read is left for the next run.
 */
export function finishFilesBy<S extends OptionSet>(
  open: (context: SourceContext<S>, path: WrittenPath) => Promise<FileFinisher>,
  patternOf: (source: OptionValues<S>, given: { readonly folder: string; readonly path: string }) => FilePattern,
) {
  const patternsRead = ({ source, query, folder }: FilesInput<S>) =>
    globsOf(query.path).map((path) => patternOf(source, { folder, path }));
  return {
    mayShareInput: (one: FilesInput<S>, other: FilesInput<S>): boolean =>
      patternsRead(one).some((a) => patternsRead(other).some((b) => mayShareFiles(a, b))),

    actsAfterDeliveryBy: ({ after_delivery: action }: AfterDeliveryQuery) =>
      action === 'keep' ? undefined : 'after_delivery',

    isActionDue({ query, watermark, isDelivered }: Read): boolean {
      if (query.after_delivery === 'keep') return false;
      const { pending = [] } = parseFilesRead(watermark);
      return pending.some((file) => isDelivered || file.isDelivered);
    },

    async afterDelivery(context: SourceContext<S> & Read): Promise<AfterDeliveryResult> {
      const { query, watermark, isDelivered, timezone = 'UTC', signal, log } = context;
      const { after_delivery: action, move_to: to = '', path } = query;
      const finisher = await open(context, path);
      const { folder } = finisher;
      try {
        const { read, ...done } = await finishAll(parseFilesRead(watermark), isDelivered, async (file) => {
          signal.throwIfAborted();
          const target = action === 'move' ? targetOf(file, to, timezone) : undefined;
          // The options may have changed since the file was read.
          if (target !== undefined && isMatch(target, { path, folder })) throw movedIntoPath(file.path, target);
          const isDone = await finish(file, finisher, target);
          // A person needs this to find a file again, such as after a rollback.
          if (isDone && target !== undefined) log.info('file moved', { file: file.path, to: target });
          if (isDone && target === undefined) log.info('file deleted', { file: file.path });
          return isDone;
        });
        return { ...done, watermark: filesReadText(read) ?? watermark };
      } finally {
        await finisher.close();
      }
    },
  };
}

async function finishAll(read: FilesRead, isDelivered: boolean, act: (file: PendingFile) => Promise<boolean>) {
  const left: PendingFile[] = [];
  let problem: Problem | undefined;
  let actions = 0;
  let failures = 0;
  for (const file of read.pending ?? []) {
    const isDue = isDelivered || file.isDelivered === true;
    if (isDue && failures < maxFailures) {
      try {
        if (await act(file)) actions++;
        failures = 0;
        continue;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const isAway = error.family !== 'job';
        // That the server is unavailable is what has to be reported, because it's what all other files wait for.
        problem = isAway ? error : (problem ?? error);
        failures = isAway ? maxFailures : failures + 1;
      }
    }
    left.push(isDue ? { ...file, isDelivered: true } : file);
  }
  return { actions, read: { ...read, pending: left }, problem };
}

/** Moves or deletes a file. Returns false if nothing was left to do. */
async function finish(file: PendingFile, finisher: FileFinisher, target: string | undefined): Promise<boolean> {
  const change = (call: Promise<boolean>) =>
    call.catch((error: unknown) => Promise.reject(refused(file.path, target, error)));
  // The process may have ended after the file was moved, and a partner may remove or replace the file at any time.
  if (!(await isLeft(file, finisher, target))) return await change(finisher.resume(file, target));
  // Without its file, a marker would make the next upload of that name count as complete from its first byte.
  const { marker } = file;
  const isUnmarked = marker !== undefined && (await change(finisher.removeMarker(marker)));
  if (isUnmarked && !(await isLeft(file, finisher, target))) throw replacedWithMarker(file.path, marker);
  return await change(target === undefined ? finisher.remove(file) : finisher.move(file, target));
}

/** Whether the file at the path is the one that was read. Throws a Problem if that isn't certain. */
async function isLeft(file: PendingFile, finisher: FileFinisher, target: string | undefined): Promise<boolean> {
  const now = await finisher.look(file.path);
  if (now === undefined || now.size !== file.size || now.modified !== file.modified) return false;
  if (now.version === file.version) return true;
  if (target !== undefined && (await finisher.isHalfMoved?.(file.path, target)) === true) return true;
  throw replaced(file.path);
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
    next: adviceFor(system, target),
    cause: error,
  });
}

/** The fix for an error of the file system. A server's replies don't tell the causes apart. */
function adviceFor(system: string | undefined, target: string | undefined): string {
  if (system === 'EXDEV') return 'set `move_to` to a folder on the same file system';
  if (system === 'EEXIST' || system === 'ENOTDIR')
    return 'check whether a file has the name of a folder in the new path, and rename it';
  if (system === 'ENOSPC' || system === 'EDQUOT') return 'free disk space';
  if (system === 'ENAMETOOLONG') return 'set `move_to` to a shorter path';
  return target === undefined
    ? 'grant the user the right to delete and rename files in this folder'
    : 'grant the user the right to create and delete files in both folders';
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

/** The file may be a new one, so it's neither moved nor deleted; but it counts as read, so a person must decide. */
function replaced(path: string): Problem {
  return new Problem({
    code: 'FILES_REPLACED',
    family: 'job',
    message: `${path} was replaced since it was read, or its owner, mode or names were changed; its size and modification time are the same`,
    next: 'if it has new rows, set its modification time (`touch`), so that it is read; otherwise, move or delete it yourself, because its rows would be sent twice',
  });
}

/** The new file would never be read, because the marker was probably its own. */
function replacedWithMarker(path: string, marker: string): Problem {
  return new Problem({
    code: 'FILES_REPLACED',
    family: 'job',
    message: `${path} was replaced while the marker of the file that was read, ${marker}, was being deleted`,
    next: 'if the marker belonged to the new file, create the marker again; the new file is read then',
  });
}

/** A symbolic link is neither moved nor deleted: at another path it might lead elsewhere, and its target would stay. */
export function linkNotFinished(path: string): Problem {
  return new Problem({
    code: 'FILES_LINK',
    family: 'job',
    message: `${path} is a symbolic link, so it is neither moved nor deleted`,
    next: 'set the path to the folder of the files themselves, or remove the link yourself',
  });
}
