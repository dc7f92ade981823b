import { type BigIntStats, closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Two writes within this time may have the same timestamp, because the kernel's clock is coarse. */
const stampMs = 50;
/** How long to wait for a pause if another program writes the file continuously. */
const maxSettleMs = 200;

const headerBytes = 100;
/**
 * Size of the first part of the WAL index, up to the checkpoint information. This part contains the salts, the number
 * of checkpointed frames and the target of a running checkpoint.
 */
const shmBytes = 132;

/** A file's state at one moment. */
interface Mark {
  readonly stats: BigIntStats;
  readonly header: Buffer;
  /** The content of the WAL index; empty if the database has no write-ahead log. */
  readonly shm: Buffer;
}

/**
 * Detects whether a SQLite file was overwritten during a read. SQLite's locks stop SQLite writers, but they don't stop
 * a program that copies another database over the file. The read would continue with the other database's pages.
 *
 * Uses its own file descriptors and closes them last, because closing any descriptor of a file releases all of SQLite's
 * locks on that file in this process.
 */
export class SqliteSnapshot {
  readonly #path: string;
  readonly #file: number;
  #shm: number | undefined;
  readonly #before: BigIntStats;
  #start: Mark | undefined;

  /** Records the file's state. Call this before SQLite reads the file. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'r');
    this.#before = this.#settled();
  }

  /**
   * Call this after SQLite has started to read. False means that the file was written after the constructor ran, so the
   * read must start again.
   */
  begin(): boolean {
    this.#shm = openIfThere(`${this.#path}-shm`);
    this.#start = this.#mark();
    return !isWritten(this.#before, this.#start.stats);
  }

  /** Whether the pages may be from more than one version of the file. Call this before SQLite finishes the read. */
  get isBroken(): boolean {
    const start = this.#start;
    if (start === undefined) return false;
    const end = this.#mark();
    if (!isWritten(start.stats, end.stats)) return false;
    return !isCheckpointed(start.shm, end.shm) || !isLater(start.header, end.header);
  }

  /** Call this after SQLite has closed the file. */
  close(): void {
    closeSync(this.#file);
    if (this.#shm !== undefined) closeSync(this.#shm);
  }

  /** Waits until the last write is old enough that the next write will have a different timestamp. */
  #settled(): BigIntStats {
    const end = Date.now() + maxSettleMs;
    for (;;) {
      const stats = fstatSync(this.#file, { bigint: true });
      const now = Date.now();
      const left = Number(stats.ctimeMs) + stampMs - now;
      if (left <= 0 || now >= end) return stats;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.min(left, stampMs));
    }
  }

  #mark(): Mark {
    return {
      stats: fstatSync(this.#file, { bigint: true }),
      header: bytesOf(this.#file, headerBytes),
      shm: this.#shm === undefined ? Buffer.alloc(0) : bytesOf(this.#shm, shmBytes),
    };
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

function bytesOf(file: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
}

/**
 * Adding or removing a link changes the ctime but not the content. For example, this happens if another file is renamed
 * over this one.
 */
function isWritten(before: BigIntStats, after: BigIntStats): boolean {
  const isLinked = before.nlink !== after.nlink;
  return (
    before.size !== after.size || before.mtimeNs !== after.mtimeNs || (!isLinked && before.ctimeNs !== after.ctimeNs)
  );
}

/**
 * Whether a writer has checkpointed the write-ahead log into the database file. A checkpoint doesn't affect readers.
 * https://www.sqlite.org/walformat.html#the_wal_index_file_format
 */
function isCheckpointed(before: Buffer, after: Buffer): boolean {
  if (before.length < shmBytes || after.length < shmBytes) return false;
  const salts = [32, 40] as const;
  const [done, attempted] = [96, 128];
  const isRestarted = !before.subarray(...salts).equals(after.subarray(...salts));
  const isFurther = !before.subarray(done, done + 4).equals(after.subarray(done, done + 4));
  const isUnderWay = !after.subarray(done, done + 4).equals(after.subarray(attempted, attempted + 4));
  return isRestarted || isFurther || isUnderWay;
}

/**
 * Whether a header may belong to a later version of the same database. If so, it has the same format, and neither its
 * change counter nor its schema cookie is lower. https://www.sqlite.org/fileformat.html#the_database_header
 */
function isLater(before: Buffer, after: Buffer): boolean {
  if (before.length < headerBytes || after.length < headerBytes) return false;
  const fixed = [
    [0, 24],
    [56, 60],
    [68, 72],
  ] as const;
  const counters = [24, 40];
  return (
    fixed.every(([from, to]) => before.subarray(from, to).equals(after.subarray(from, to))) &&
    counters.every((at) => ((after.readUInt32BE(at) - before.readUInt32BE(at)) | 0) >= 0)
  );
}
