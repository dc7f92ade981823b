import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { newId } from '../../lib/ids.ts';
import { syncFolder } from '../../lib/sync-folder.ts';
import type { Blobs, BlobWriter } from './blobs.ts';

const batchBytes = 1024 * 1024;
/** The disk is asked to keep up while the rest still comes, so that little is left to wait for at the end. */
const syncBytes = 4 * batchBytes;
/** Names that this service gives, or once gave. Whatever else lies in the folder is somebody else's, and is left alone. */
const ours = /^[0-9a-f]{32}(\.part)?$/;

/** Documents as files of one folder. A file that no instance shows is unfinished or left over, and swept at a start. */
export class FolderBlobs implements Blobs {
  readonly #folder: string;

  /** The folder must be there. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async begin(): Promise<BlobWriter> {
    const name = newId();
    const path = join(this.#folder, name);
    return new FileWriter(name, path, await open(path, 'wx', 0o600), syncFolder(this.#folder));
  }

  async open(name: string): Promise<Readable> {
    const handle = await open(join(this.#folder, name), 'r');
    return handle.createReadStream({ highWaterMark: batchBytes });
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

/** Writes a megabyte at a time, one write under way while the next one fills. */
class FileWriter implements BlobWriter {
  readonly #name: string;
  readonly #path: string;
  readonly #handle: FileHandle;
  /** The folder's entry of the file is on the disk. */
  readonly #entered: Promise<void>;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #unsynced = 0;
  #writing: Promise<unknown> = Promise.resolve();
  #syncing: Promise<unknown> = Promise.resolve();

  constructor(name: string, path: string, handle: FileHandle, entered: Promise<void>) {
    this.#name = name;
    this.#path = path;
    this.#handle = handle;
    this.#entered = entered;
    this.#entered.catch(() => undefined);
  }

  write(piece: Buffer): Promise<void> | void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= batchBytes) return this.#flush();
  }

  async finish(): Promise<string> {
    await this.#flush();
    await this.#writing;
    await this.#syncing;
    await this.#handle.sync();
    await this.#handle.close();
    await this.#entered;
    return this.#name;
  }

  async abandon(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#syncing, this.#entered]);
    await this.#handle.close().catch(() => undefined);
    await rm(this.#path, { force: true }).catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const pieces = this.#pieces;
    this.#unsynced += this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
    await this.#writing;
    if (this.#unsynced >= syncBytes) await this.#syncSoon();
    this.#writing = this.#writeAll(pieces);
    // Whoever waits for it next hears of a failure; until then it is not an unhandled one.
    this.#writing.catch(() => undefined);
  }

  /** One at a time: a disk that is slower than the client is waited for here. */
  async #syncSoon(): Promise<void> {
    this.#unsynced = 0;
    await this.#syncing;
    this.#syncing = this.#handle.datasync();
    this.#syncing.catch(() => undefined);
  }

  /** A vector write may be cut short by the system; what is left goes out in the next. */
  async #writeAll(pieces: readonly Buffer[]): Promise<void> {
    let left = pieces.filter((piece) => piece.length > 0);
    while (left.length > 0) {
      let { bytesWritten } = await this.#handle.writev(left);
      while (left.length > 0 && bytesWritten >= left[0]!.length) {
        bytesWritten -= left[0]!.length;
        left = left.slice(1);
      }
      if (left.length > 0) left = [left[0]!.subarray(bytesWritten), ...left.slice(1)];
    }
  }
}
