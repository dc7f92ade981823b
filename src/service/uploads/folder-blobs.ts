import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { newId } from '../../lib/ids.ts';
import { syncFolder } from '../../lib/sync-folder.ts';
import type { Blobs, BlobWriter } from './blobs.ts';

const batchBytes = 1024 * 1024;
const unfinished = '.part';
/** Names that this service gives. Whatever else lies in the folder is somebody else's, and is never touched. */
const ours = /^[0-9a-f]{32}(\.part)?$/;

/** Documents as files of one folder. A file without the ending `.part` is complete and on the disk. */
export class FolderBlobs implements Blobs {
  readonly #folder: string;

  /** The folder must be there. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async begin(): Promise<BlobWriter> {
    const path = join(this.#folder, newId());
    return new FileWriter(path, await open(path + unfinished, 'wx', 0o600), this.#folder);
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
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #folder: string;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(path: string, handle: FileHandle, folder: string) {
    this.#path = path;
    this.#handle = handle;
    this.#folder = folder;
  }

  write(piece: Buffer): Promise<void> | void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= batchBytes) return this.#flush();
  }

  async finish(): Promise<string> {
    await this.#flush();
    await this.#writing;
    await this.#handle.sync();
    await this.#handle.close();
    await rename(this.#path + unfinished, this.#path);
    await syncFolder(this.#folder);
    return this.#path.slice(this.#folder.length + 1);
  }

  async abandon(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#handle.close().catch(() => undefined);
    await rm(this.#path + unfinished, { force: true }).catch(() => undefined);
    await rm(this.#path, { force: true }).catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    await this.#writing;
    this.#writing = this.#writeAll(pieces);
    // Whoever waits for it next hears of a failure; until then it is not an unhandled one.
    this.#writing.catch(() => undefined);
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
