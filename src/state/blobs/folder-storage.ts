import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Problem } from '../../lib/problem.ts';
import { stateFileProblem } from '../engine/state-problem.ts';
import { removeIfEmpty } from '../folder-files.ts';
import { type BlobRef, type BlobStorage, pieceBytes } from './blob-storage.ts';
import { writeWhole } from './write-whole.ts';

/** Name of the file that says to which state a folder of blobs belongs. Without it, the folder isn't mounted. */
export const markerName = 'state.id';

/** Stores blobs as files in a folder that all machines mount. */
export class FolderStorage implements BlobStorage {
  readonly isInDatabase = false;
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async write({ name }: BlobRef, pieces: AsyncIterable<Buffer>): Promise<void> {
    this.#assertMounted();
    await writeWhole(join(this.#root, name), pieces, { lasting: true });
  }

  async *read({ name }: BlobRef): AsyncGenerator<Buffer> {
    const path = join(this.#root, name);
    const handle = await this.#open(path);
    if (handle === undefined) return;
    try {
      for (;;) {
        const piece = Buffer.allocUnsafe(pieceBytes);
        const { bytesRead } = await handle.read(piece, 0, pieceBytes);
        if (bytesRead === 0) return;
        yield piece.subarray(0, bytesRead);
      }
    } catch (error) {
      throw stateFileProblem(error, path) ?? error;
    } finally {
      await handle.close();
    }
  }

  async remove({ name }: Pick<BlobRef, 'name'>): Promise<void> {
    this.#assertMounted();
    const path = join(this.#root, name);
    rmSync(path, { force: true });
    removeIfEmpty(dirname(path), this.#root);
  }

  async #open(path: string): Promise<FileHandle | undefined> {
    try {
      return await open(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw stateFileProblem(error, path) ?? error;
      this.#assertMounted();
      return undefined;
    }
  }

  /** Without this check, the payloads of a folder that isn't mounted at the moment would be considered lost. */
  #assertMounted(): void {
    const marker = join(this.#root, markerName);
    if (existsSync(marker)) return;
    throw new Problem({
      code: 'STATE_UNREADABLE',
      family: 'try_later',
      message: 'The payloads folder is not mounted',
      seen: `no file ${marker}`,
      next: 'mount the folder that "payloads" names in the config',
    });
  }
}
