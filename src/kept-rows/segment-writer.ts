import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { DiskSpace } from '../lib/disk-space.ts';
import { giveToOwner } from '../lib/give-to-owner.ts';
import type { Segment } from './manifest.ts';

const pieceBytes = 512 * 1024;

/**
 * A writer's two buffers. Only one writer at a time can use them, so files that are written one after another share
 * them.
 */
export type WriterMemory = readonly [Buffer, Buffer];

export const writerMemory = (): WriterMemory => [
  Buffer.allocUnsafeSlow(pieceBytes),
  Buffer.allocUnsafeSlow(pieceBytes),
];

export interface SegmentWriterOptions {
  /** Disk budget; absent if the caller checks it itself. */
  readonly room?: DiskSpace | undefined;
  /** Buffers of a finished writer to reuse. If absent, new ones are allocated. */
  readonly memory?: WriterMemory;
}

/** Writes records to a new file with double buffering. */
export class SegmentWriter {
  readonly #handle: FileHandle;
  readonly #room: DiskSpace | undefined;
  #piece: Buffer;
  #spare: Buffer | undefined;
  #used = 0;
  #written = 0;
  #rows = 0;
  #crc = 0;
  #writing: Promise<void> = Promise.resolve();

  private constructor(handle: FileHandle, { room, memory = writerMemory() }: SegmentWriterOptions) {
    this.#handle = handle;
    this.#room = room;
    [this.#piece, this.#spare] = memory;
  }

  static async create(path: string, options: SegmentWriterOptions = {}): Promise<SegmentWriter> {
    const handle = await open(path, 'wx', 0o600);
    giveToOwner(handle.fd, dirname(path));
    return new SegmentWriter(handle, options);
  }

  get bytes(): number {
    return this.#written + this.#used;
  }

  /** Copies `bytes` bytes from the buffer. If it returns a promise, await it before the next call. */
  write(buffer: Buffer, start: number, bytes: number): Promise<void> | undefined {
    this.#rows += 1;
    if (this.#used + bytes <= this.#piece.length) {
      buffer.copy(this.#piece, this.#used, start, start + bytes);
      this.#used += bytes;
      return undefined;
    }
    return this.#over(Buffer.from(buffer.subarray(start, start + bytes)));
  }

  /** Syncs everything to disk and closes the file. */
  async seal(): Promise<Pick<Segment, 'rows' | 'bytes' | 'crc'>> {
    await this.#flush();
    await this.#writing;
    await this.#handle.sync();
    await this.#handle.close();
    return { rows: this.#rows, bytes: this.#written, crc: this.#crc };
  }

  /** Closes the unfinished file. Never throws, because it's called after an error. */
  async abandon(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#handle.close().catch(() => undefined);
  }

  async #over(record: Buffer): Promise<void> {
    await this.#flush();
    if (record.length > this.#piece.length) this.#piece = Buffer.allocUnsafeSlow(record.length);
    record.copy(this.#piece);
    this.#used = record.length;
  }

  async #flush(): Promise<void> {
    const piece = this.#piece.subarray(0, this.#used);
    await this.#room?.claim(piece.length);
    await this.#writing;
    this.#crc = crc32(piece, this.#crc);
    const at = this.#written;
    this.#written += piece.length;
    this.#used = 0;
    const full = this.#piece;
    this.#piece = this.#spare ?? Buffer.allocUnsafeSlow(pieceBytes);
    this.#spare = undefined;
    this.#writing = writeAll(this.#handle, piece, at).then(() => {
      this.#spare = full;
    });
    // The next await gets the error; until then, it must not count as an unhandled rejection.
    this.#writing.catch(() => undefined);
  }
}

/** Writes the whole buffer in a loop, because the system may write only part of it at a time. */
async function writeAll(handle: FileHandle, piece: Buffer, position: number): Promise<void> {
  for (let done = 0; done < piece.length; ) {
    const { bytesWritten } = await handle.write(piece, done, piece.length - done, position + done);
    done += bytesWritten;
  }
}
