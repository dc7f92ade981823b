import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { giveToOwner } from '../lib/give-to-owner.ts';
import { makeFolder } from '../lib/make-folder.ts';
import type { Room } from '../lib/room.ts';
import { syncFolder } from '../lib/sync-folder.ts';
import { ownedPrefix } from './living.ts';
import { spoolProblem } from './spool-problem.ts';

/** Encoding runs ahead of the disk by at most this much. */
const inFlightLimit = 2 * 1024 * 1024;
/** What is synced while encoding goes on need not be waited for at the end. */
const syncEvery = 16 * 1024 * 1024;

/** A payload that has reached the disk: whole, under its hash, synced. */
export interface Sealed {
  readonly sha256: string;
  readonly path: string;
  readonly bytes: number;
  /** A file with these bytes was there already and was kept. */
  readonly reused: boolean;
}

/**
 * A payload on its way to the disk: hashed as it is written, under a temporary name until {@link seal}. Writes overlap
 * with encoding. All methods throw Problems that name the folder. After a failure only {@link discard} may be called.
 */
export class SpoolFile {
  readonly #folder: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  readonly #room: Room | undefined;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #inFlight = 0;
  #unsynced = 0;
  #sync: Promise<void> | undefined;
  #digest: string | undefined;
  #failure: unknown;
  #wake: (() => void) | undefined;

  private constructor(folder: string, opened: { temporary: string; handle: FileHandle; room: Room | undefined }) {
    this.#folder = folder;
    this.#temporary = opened.temporary;
    this.#handle = opened.handle;
    this.#room = opened.room;
  }

  /** Opens a new temporary file in the folder, which is made where it is missing. `room`: what may be written there. */
  static async open(folder: string, room?: Room): Promise<SpoolFile> {
    const temporary = join(folder, `${ownedPrefix()}${randomBytes(4).toString('hex')}.part`);
    try {
      makeFolder(folder, 0o700);
      const handle = await open(temporary, 'wx', 0o600);
      giveToOwner(handle.fd, folder);
      return new SpoolFile(folder, { temporary, handle, room });
    } catch (error) {
      throw spoolProblem(error, folder);
    }
  }

  /**
   * Starts writing the pieces; each is given back through `recycle` once it is on its way to the disk. The promise, when
   * there is one, must be awaited before more is written: it is how the disk slows the encoder down.
   */
  write(pieces: readonly Buffer[], recycle: (piece: Buffer) => void): Promise<void> | undefined {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    const asked = this.#room?.claim(bytes);
    return asked === undefined ? this.#begin(pieces, recycle) : asked.then(() => this.#begin(pieces, recycle));
  }

  #begin(pieces: readonly Buffer[], recycle: (piece: Buffer) => void): Promise<void> | undefined {
    for (const piece of pieces) this.#start(piece, recycle);
    this.#throwFailure();
    return this.#inFlight > inFlightLimit ? this.#drain(inFlightLimit) : undefined;
  }

  /** Hash and size, when everything has been written. What comes of a loss of power is not said yet. */
  async weigh(): Promise<Pick<Sealed, 'sha256' | 'bytes'>> {
    await this.#drain(0);
    this.#throwFailure();
    this.#digest ??= this.#hash.digest('hex');
    return { sha256: this.#digest, bytes: this.#bytes };
  }

  /**
   * Everything written and synced, the file renamed to its hash, its folder and the one above synced: from here on a crash
   * cannot lose it.
   */
  async seal(ending: string): Promise<Sealed> {
    const { sha256 } = await this.weigh();
    await this.#sync;
    this.#throwFailure();
    const path = join(this.#folder, sha256 + ending);
    try {
      await this.#handle.sync();
      await this.#handle.close();
      const reused = (await sizeOf(path)) === this.#bytes;
      await (reused ? this.#keep(path) : rename(this.#temporary, path));
      // The run's folder is as new as its file: it has to be found again, too.
      await Promise.all([syncFolder(this.#folder), syncFolder(dirname(this.#folder))]);
      return { sha256, path, bytes: this.#bytes, reused };
    } catch (error) {
      throw spoolProblem(error, this.#folder);
    }
  }

  /** Removes the temporary file. Never throws: it runs when something has already gone wrong. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#temporary, { force: true }).catch(() => {});
  }

  /** The file that is there counts as new from now on, for whoever clears away old ones. */
  async #keep(path: string): Promise<void> {
    const now = new Date();
    await utimes(path, now, now);
    await rm(this.#temporary);
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

/** The system may write less than it was given (near a limit, or interrupted); the rest follows until it refuses. */
async function writeAll(handle: FileHandle, piece: Buffer, position: number): Promise<void> {
  for (let done = 0; done < piece.length; ) {
    const { bytesWritten } = await handle.write(piece, done, piece.length - done, position + done);
    done += bytesWritten;
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
