import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Problem } from '../lib/problem.ts';
import type { Segment } from './manifest.ts';
import { headBytes, keyPrefix, type RecordRef, sizeAt } from './record.ts';
import type { RecordSource } from './record-source.ts';

const blockBytes = 256 * 1024;

export interface SegmentReaderOptions {
  readonly path: string;
  readonly segment: Pick<Segment, 'bytes' | 'crc'>;
  readonly rank: number;
  readonly skips?: (spot: RecordRef) => boolean;
}

/** Reads a file's records sequentially and verifies its checksum and size. */
export class SegmentReader implements RecordSource {
  readonly rank: number;
  readonly #given: SegmentReaderOptions;
  #handle: FileHandle | undefined;
  #read = 0;
  #crc = 0;
  buffer: Buffer = Buffer.alloc(0);
  start = 0;
  prefix = 0;
  /** Position after the current record. */
  #next = 0;
  #end = 0;

  constructor(given: SegmentReaderOptions) {
    this.#given = given;
    this.rank = given.rank;
  }

  next(): boolean {
    const { skips } = this.#given;
    for (;;) {
      const size = this.#next + headBytes <= this.#end ? sizeAt(this.buffer, this.#next) : 0;
      if (size < headBytes || this.#next + size > this.#end) return false;
      this.start = this.#next;
      this.#next += size;
      if (skips?.(this) === true) continue;
      this.prefix = keyPrefix(this);
      return true;
    }
  }

  async fill(): Promise<boolean> {
    do {
      if (!(await this.#more())) return false;
    } while (!this.next());
    return true;
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** Moves the rest of the last block to the front, and reads more data after it. */
  async #more(): Promise<boolean> {
    const left = this.#end - this.#next;
    const needed = left >= headBytes ? sizeAt(this.buffer, this.#next) : 0;
    const { bytes } = this.#given.segment;
    // If the size exceeds the file's, the file is corrupt; don't allocate memory for it.
    if (needed > bytes) throw damaged(this.#given.path, 'a record is larger than the file');
    this.#makeRoom(left, needed);
    this.#handle ??= await this.#open();
    const { bytesRead } = await this.#handle.read(this.buffer, left, this.buffer.length - left, this.#read);
    this.#crc = crc32(this.buffer.subarray(left, left + bytesRead), this.#crc);
    this.#read += bytesRead;
    this.#end = left + bytesRead;
    if (bytesRead > 0) return true;
    this.#check(left);
    await this.close();
    return false;
  }

  #makeRoom(left: number, needed: number): void {
    const size = Math.max(blockBytes, needed);
    if (this.buffer.length < size) {
      const larger = Buffer.allocUnsafeSlow(size);
      this.buffer.copy(larger, 0, this.#next, this.#end);
      this.buffer = larger;
    } else if (left > 0) this.buffer.copyWithin(0, this.#next, this.#end);
    this.#next = 0;
    this.#end = left;
  }

  async #open(): Promise<FileHandle> {
    try {
      return await open(this.#given.path, 'r');
    } catch (error) {
      throw damaged(this.#given.path, (error as Error).message);
    }
  }

  #check(left: number): void {
    const { path, segment } = this.#given;
    if (left === 0 && this.#read === segment.bytes && this.#crc === segment.crc) return;
    throw damaged(path, `${this.#read} bytes of ${segment.bytes}, checksum ${this.#crc} instead of ${segment.crc}`);
  }
}

function damaged(path: string, why: string): Problem {
  return new Problem({
    code: 'SET_DAMAGED',
    family: 'job',
    message: `A file with the job's kept rows is damaged: ${path}`,
    seen: why,
    next: 'let the job read everything again: sluice state clear JOB; if the source no longer has all rows, restore a backup',
  });
}
