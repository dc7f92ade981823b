import { createHash } from 'node:crypto';
import { closeSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { makeFolder } from '../lib/make-folder.ts';
import { createPrivateFile } from '../lib/private-file.ts';
import { smallBytes } from '../lib/small-file.ts';
import { syncDescriptor } from '../lib/sync-path.ts';
import { type SealedFile, SpoolFile, type SpoolOptions, settle, temporaryIn } from './spool-file.ts';
import { spoolProblem } from './spool-problem.ts';
import type { Sink } from './stream-rows.ts';

/**
 * A payload that is being written. A small one stays in memory until {@link seal}; a larger one is written to disk as
 * it's produced ({@link SpoolFile}). All methods throw Problems that name the folder. After a failure, only
 * {@link discard} may be called.
 */
export class Spool implements Sink {
  readonly #folder: string;
  readonly #options: SpoolOptions;
  readonly #held: Buffer[] = [];
  #bytes = 0;
  /** The temporary file of a small payload, once it has been written. */
  #temporary: string | undefined;
  #file: SpoolFile | undefined;

  /** `folder`: created if missing. */
  constructor(folder: string, options: SpoolOptions = {}) {
    this.#folder = folder;
    this.#options = options;
    try {
      makeFolder(folder, 0o700);
    } catch (error) {
      throw spoolProblem(error, folder);
    }
  }

  /** See {@link SpoolFile.write}. */
  write(pieces: readonly Buffer[], recycle: (piece: Buffer) => void): Promise<void> | undefined {
    if (this.#file !== undefined) return this.#file.write(pieces, recycle);
    const bytes = pieces.reduce((sum, { length }) => sum + length, this.#bytes);
    if (bytes > smallBytes) return this.#letGo(pieces, recycle);
    this.#bytes = bytes;
    for (const piece of pieces) {
      this.#held.push(Buffer.from(piece));
      recycle(piece);
    }
    return undefined;
  }

  /** Waits until all bytes have been written, but not synced, and returns their hash and number. */
  async weigh(): Promise<Pick<SealedFile, 'sha256' | 'bytes'>> {
    if (this.#file !== undefined) return this.#file.weigh();
    const hash = createHash('sha256');
    for (const piece of this.#held) hash.update(piece);
    return { sha256: hash.digest('hex'), bytes: this.#bytes };
  }

  /** Writes the file durably under its hash; after that, a crash can't lose it. */
  async seal(ending: string): Promise<SealedFile> {
    if (this.#file !== undefined) return this.#file.seal(ending);
    const { durable = true, room } = this.#options;
    const weighed = await this.weigh();
    await room?.claim(this.#bytes);
    this.#temporary = temporaryIn(this.#folder);
    try {
      await this.#store(this.#temporary, durable);
      return await settle(this.#temporary, { ...weighed, ending, durable });
    } catch (error) {
      throw spoolProblem(error, this.#folder);
    }
  }

  /** Removes the written bytes. Never throws, because it's called after an error. */
  async discard(): Promise<void> {
    await this.#file?.discard();
    if (this.#temporary !== undefined) await rm(this.#temporary, { force: true }).catch(() => {});
  }

  async #store(path: string, durable: boolean): Promise<void> {
    const file = createPrivateFile(path);
    try {
      writeFileSync(file, Buffer.concat(this.#held));
      if (durable) await syncDescriptor(file);
    } finally {
      closeSync(file);
    }
  }

  /** Continues in a file, because the payload exceeds the in-memory limit. */
  async #letGo(pieces: readonly Buffer[], recycle: (piece: Buffer) => void): Promise<void> {
    this.#file = await SpoolFile.open(this.#folder, this.#options);
    await this.#file.write(this.#held.splice(0), () => undefined);
    await this.#file.write(pieces, recycle);
  }
}
