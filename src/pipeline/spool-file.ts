import { createHash, randomBytes } from 'node:crypto';
import { renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DiskSpace } from '../lib/disk-space.ts';
import { giveToOwner } from '../lib/give-to-owner.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { syncPath } from '../lib/sync-path.ts';
import { spoolProblem } from './spool-problem.ts';
import { tempFilePrefix } from './temp-file-owner.ts';

/** Maximum number of bytes that encoding may be ahead of the disk. */
const inFlightLimit = 2 * 1024 * 1024;
/** Number of bytes between syncs during encoding. Regular syncs leave little work for the final one. */
const syncEvery = 16 * 1024 * 1024;

/** A payload on disk: complete, synced and named by its hash. */
export interface SealedFile {
  readonly sha256: string;
  readonly path: string;
  readonly bytes: number;
  /** Whether a file with these bytes already existed and was kept. */
  readonly reused: boolean;
}

/** Options for writing a payload. */
export interface SpoolOptions {
  /** The folder's disk budget. Default: no limit. */
  readonly room?: DiskSpace;
  /** Whether the payload must survive a power loss. Default: true. */
  readonly durable?: boolean;
}

/**
 * A payload that is being written and hashed, under a temporary name until {@link seal}. Writing overlaps with
 * encoding. All methods throw Problems that name the folder. After a failure, only {@link discard} may be called.
 */
export class SpoolFile {
  readonly #folder: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  readonly #options: SpoolOptions;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #inFlight = 0;
  #unsynced = 0;
  #sync: Promise<void> | undefined;
  #digest: string | undefined;
  #failure: unknown;
  #wake: (() => void) | undefined;

  private constructor(opened: { folder: string; temporary: string; handle: FileHandle }, options: SpoolOptions) {
    this.#folder = opened.folder;
    this.#temporary = opened.temporary;
    this.#handle = opened.handle;
    this.#options = options;
  }

  /** Opens a new temporary file in the folder, which is created if missing. */
  static async open(folder: string, options: SpoolOptions = {}): Promise<SpoolFile> {
    const temporary = temporaryIn(folder);
    try {
      makeFolder(folder, 0o700);
      const handle = await open(temporary, 'wx', 0o600);
      giveToOwner(handle.fd, folder);
      return new SpoolFile({ folder, temporary, handle }, options);
    } catch (error) {
      throw spoolProblem(error, folder);
    }
  }

  /**
   * Starts writing the chunks; each is returned through `recycle` once it has been written. If this returns a promise,
   * await it before writing more: it applies the disk's backpressure to the encoder.
   */
  write(pieces: readonly Buffer[], recycle: (piece: Buffer) => void): Promise<void> | undefined {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    const asked = this.#options.room?.claim(bytes);
    return asked === undefined ? this.#begin(pieces, recycle) : asked.then(() => this.#begin(pieces, recycle));
  }

  #begin(pieces: readonly Buffer[], recycle: (piece: Buffer) => void): Promise<void> | undefined {
    for (const piece of pieces) this.#start(piece, recycle);
    this.#throwFailure();
    return this.#inFlight > inFlightLimit ? this.#drain(inFlightLimit) : undefined;
  }

  /** Waits until all bytes have been written, but not synced, and returns their hash and number. */
  async weigh(): Promise<Pick<SealedFile, 'sha256' | 'bytes'>> {
    await this.#drain(0);
    this.#throwFailure();
    this.#digest ??= this.#hash.digest('hex');
    return { sha256: this.#digest, bytes: this.#bytes };
  }

  /**
   * Syncs everything, renames the file to its hash, and syncs its folder and the parent folder; after that, a crash
   * can't lose it.
   */
  async seal(ending: string): Promise<SealedFile> {
    const weighed = await this.weigh();
    await this.#sync;
    this.#throwFailure();
    const { durable = true } = this.#options;
    try {
      if (durable) await this.#handle.sync();
      await this.#handle.close();
      return await settle(this.#temporary, { ...weighed, ending, durable });
    } catch (error) {
      throw spoolProblem(error, this.#folder);
    }
  }

  /** Removes the temporary file. Never throws, because it's called after an error. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#temporary, { force: true }).catch(() => {});
  }

  #start(piece: Buffer, recycle: (piece: Buffer) => void): void {
    this.#hash.update(piece);
    const position = this.#bytes;
    this.#bytes += piece.length;
    this.#inFlight += piece.length;
    writeAll(this.#handle, piece, position).then(
      () => this.#written(piece, recycle),
      (error) => this.#fail(error),
    );
  }

  #written(piece: Buffer, recycle: (piece: Buffer) => void): void {
    this.#inFlight -= piece.length;
    this.#unsynced += piece.length;
    recycle(piece);
    if (this.#unsynced >= syncEvery && this.#sync === undefined) this.#syncBehind();
    this.#wake?.();
  }

  #syncBehind(): void {
    this.#unsynced = 0;
    this.#sync = this.#handle
      .datasync()
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#sync = undefined;
      });
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#wake?.();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw spoolProblem(this.#failure, this.#folder);
  }

  async #drain(limit: number): Promise<void> {
    while (this.#inFlight > limit && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#throwFailure();
  }
}

/**
 * Writes a whole chunk in a loop, because the system may write less than requested (near a limit, or if interrupted).
 */
async function writeAll(handle: FileHandle, piece: Buffer, position: number): Promise<void> {
  for (let done = 0; done < piece.length; ) {
    const { bytesWritten } = await handle.write(piece, done, piece.length - done, position + done);
    done += bytesWritten;
  }
}

/** A name for an incomplete file in the folder. */
export function temporaryIn(folder: string): string {
  return join(folder, `${tempFilePrefix()}${randomBytes(4).toString('hex')}.part`);
}

/** Renames a complete file to its hash. If `durable` is set, the new name survives a power loss. */
export async function settle(
  temporary: string,
  { sha256, bytes, ending, durable }: { sha256: string; bytes: number; ending: string; durable: boolean },
): Promise<SealedFile> {
  const folder = dirname(temporary);
  const path = join(folder, sha256 + ending);
  const reused = statSync(path, { throwIfNoEntry: false })?.size === bytes;
  if (reused) renew(path, temporary);
  else renameSync(temporary, path);
  // The run's folder is as new as the file, so the folder's own entry must be synced too.
  if (durable) await Promise.all([syncPath(folder), syncPath(dirname(folder))]);
  return { sha256, path, bytes, reused };
}

/** Touches the existing file, so that pruning treats it as new. */
function renew(path: string, temporary: string): void {
  const now = new Date();
  utimesSync(path, now, now);
  rmSync(temporary);
}
