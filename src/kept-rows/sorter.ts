import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskSpace } from '../lib/disk-space.ts';
import { Arena, ArenaSource } from './arena.ts';
import type { Segment } from './manifest.ts';
import { Merge } from './merge.ts';
import type { RecordSource } from './record-source.ts';
import { SegmentReader } from './segment-reader.ts';
import { SegmentWriter, type WriterMemory, writerMemory } from './segment-writer.ts';

/** Number of bytes to sort in memory at a time. */
const arenaBytes = 16 * 1024 * 1024;
/** Maximum number of open sorted files. At this number, they're merged into one. */
const maxFiles = 24;

interface SortedFile extends Pick<Segment, 'rows' | 'bytes' | 'crc'> {
  readonly path: string;
}

/**
 * External merge sort for any number of records. Records that don't fit in memory are written to sorted files, which
 * are then merged.
 */
export class Sorter {
  readonly arena: Arena;
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #room: DiskSpace | undefined;
  readonly #name: string;
  #memory: WriterMemory | undefined;
  #files: SortedFile[] = [];
  #made = 0;

  /**
   * `folder`: holds temporary files, which are deleted on close. `name`: the beginning of their names, which no other
   * sorter in the folder may use. `room`: the disk budget for these files.
   */
  constructor(
    folder: string,
    {
      maxBytes = arenaBytes,
      room,
      name = 'sort',
    }: { maxBytes?: number | undefined; room?: DiskSpace | undefined; name?: string } = {},
  ) {
    this.#name = name;
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#room = room;
    // The arena must also have space for the row that fills it.
    this.arena = new Arena(maxBytes + 256 * 1024);
  }

  /** Whether no file has been needed so far. */
  get isSmall(): boolean {
    return this.#files.length === 0;
  }

  /** If memory is full, returns a promise; await it before adding the next record. */
  spill(): Promise<void> | undefined {
    return this.arena.used < this.#maxBytes ? undefined : this.#spill();
  }

  /** All records in order; nothing can be added afterwards. `rank`: the rank of the latest records. */
  sources(rank: number): RecordSource[] {
    const files = this.#files.map(({ path, ...segment }, i) => {
      // These ranks lie between two integers: later files win, and the next segment wins over all of them.
      return new SegmentReader({ path, segment, rank: rank - 1 + (i + 1) / (this.#files.length + 1) });
    });
    return this.arena.count === 0 ? files : [...files, new ArenaSource(this.arena, rank)];
  }

  async close(): Promise<void> {
    for (const { path } of this.#files) await rm(path, { force: true });
    this.#files = [];
  }

  async #spill(): Promise<void> {
    const source = new ArenaSource(this.arena, 0);
    this.#files.push(
      await this.#write(async (writer) => {
        for (const { start, bytes } of source.records()) {
          const full = writer.write(source.buffer, start, bytes);
          if (full !== undefined) await full;
        }
      }),
    );
    this.arena.clear();
    if (this.#files.length >= maxFiles) await this.#join();
  }

  async #join(): Promise<void> {
    const files = this.#files;
    const readers = files.map(({ path, ...segment }, rank) => new SegmentReader({ path, segment, rank }));
    const merge = new Merge(readers);
    try {
      const joined = await this.#write((writer) => merge.copyTo(writer));
      this.#files = [joined];
    } finally {
      await merge.close();
    }
    for (const { path } of files) await rm(path, { force: true });
  }

  async #write(work: (writer: SegmentWriter) => Promise<void>): Promise<SortedFile> {
    const path = join(this.#folder, `${this.#name}-${this.#made++}`);
    this.#memory ??= writerMemory();
    const writer = await SegmentWriter.create(path, { room: this.#room, memory: this.#memory });
    try {
      await work(writer);
      return { path, ...(await writer.seal()) };
    } catch (thrown) {
      await writer.abandon();
      throw thrown;
    }
  }
}
