import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { newId } from '../../lib/ids.ts';
import { createPrivateHandle } from '../../lib/private-file.ts';
import { syncPath } from '../../lib/sync-path.ts';
import type { Blobs, BlobWriter } from './blobs.ts';

const batchBytes = 512 * 1024;
/** Maximum number of buffers that are kept for reuse. An upload needs two buffers. */
const maxSpareBuffers = 8;
const readBytes = 1024 * 1024;
/**
 * How many bytes an upload writes between two syncs. Syncing during the upload leaves little data to sync at its end.
 */
const syncBytes = 4 * 1024 * 1024;
/** File names that this or an earlier version creates. Files with any other name are never removed. */
const ours = /^[0-9a-f]{32}(\.part)?$/;

/**
 * Stores documents as files in one folder. If no instance shows a file, the file is incomplete or orphaned, so the
 * sweep at the next start removes it.
 */
export class FolderBlobs implements Blobs {
  readonly #folder: string;
  readonly #spare: Buffer[] = [];

  /** The folder must exist. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async begin(): Promise<BlobWriter> {
    const name = newId();
    const path = join(this.#folder, name);
    const handle = await createPrivateHandle(path);
    return new FileWriter({ name, path, handle, entered: syncPath(this.#folder), spare: this.#spare });
  }

  async open(name: string): Promise<Readable> {
    const handle = await open(join(this.#folder, name), 'r');
    return handle.createReadStream({ highWaterMark: readBytes });
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { force: true }).catch(() => undefined);
  }

  async sweep(known: ReadonlySet<string>): Promise<number> {
    const orphans = (await readdir(this.#folder)).filter((name) => ours.test(name) && !known.has(name));
    await Promise.all(orphans.map((name) => this.remove(name)));
    return orphans.length;
  }
}

interface Begun {
  readonly name: string;
  readonly path: string;
  readonly handle: FileHandle;
  /** Resolves when the file's directory entry is synced to disk. */
  readonly entered: Promise<void>;
  /** Buffers that can be reused. */
  readonly spare: Buffer[];
}

/**
 * Writes a file with double buffering: fills one buffer while the other is being written. Chunks are copied, because
 * thousands of small buffers that wait for the disk would make garbage collection more expensive.
 */
class FileWriter implements BlobWriter {
  readonly #begun: Begun;
  #filling: Buffer | undefined;
  #filled = 0;
  #unsynced = 0;
  #writing: Promise<unknown> = Promise.resolve();
  #syncing: Promise<unknown> = Promise.resolve();

  constructor(begun: Begun) {
    this.#begun = begun;
    begun.entered.catch(() => undefined);
  }

  write(piece: Buffer): Promise<void> | void {
    const copied = this.#copy(piece);
    if (this.#filled === batchBytes) return this.#writeRest(piece.subarray(copied));
  }

  async finish(): Promise<string> {
    const { name, handle, entered } = this.#begun;
    await this.#flush();
    await this.#writing;
    await this.#syncing;
    await handle.sync();
    await handle.close();
    await entered;
    return name;
  }

  async abandon(): Promise<void> {
    const { path, handle, entered } = this.#begun;
    await Promise.allSettled([this.#writing, this.#syncing, entered]);
    await handle.close().catch(() => undefined);
    await rm(path, { force: true }).catch(() => undefined);
  }

  #copy(piece: Buffer): number {
    this.#filling ??= this.#begun.spare.pop() ?? Buffer.allocUnsafeSlow(batchBytes);
    const copied = piece.copy(this.#filling, this.#filled);
    this.#filled += copied;
    return copied;
  }

  async #writeRest(piece: Buffer): Promise<void> {
    for (let rest = piece; this.#filled === batchBytes; rest = rest.subarray(this.#copy(rest))) await this.#flush();
  }

  /** Starts to write the current buffer after the previous one has been written. */
  async #flush(): Promise<void> {
    await this.#writing;
    const [buffer, bytes] = [this.#filling, this.#filled];
    if (buffer === undefined) return;
    this.#filling = undefined;
    this.#filled = 0;
    this.#unsynced += bytes;
    if (this.#unsynced >= syncBytes) await this.#syncSoon();
    this.#writing = this.#writeAll(buffer, bytes);
    // The next caller that awaits the write gets the error. Until then, the rejection must not count as unhandled.
    this.#writing.catch(() => undefined);
  }

  /**
   * Starts to sync the file after its previous sync has finished. If the client is faster than the disk, it waits here.
   */
  async #syncSoon(): Promise<void> {
    this.#unsynced = 0;
    await this.#syncing;
    this.#syncing = this.#begun.handle.datasync();
    this.#syncing.catch(() => undefined);
  }

  /** Writes a whole buffer. This takes a loop, because the operating system may write only part of the buffer. */
  async #writeAll(buffer: Buffer, bytes: number): Promise<void> {
    for (let start = 0; start < bytes; ) {
      start += (await this.#begun.handle.write(buffer, start, bytes - start)).bytesWritten;
    }
    if (this.#begun.spare.length < maxSpareBuffers) this.#begun.spare.push(buffer);
  }
}
