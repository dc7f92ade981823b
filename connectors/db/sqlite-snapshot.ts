import { type BigIntStats, closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Two writes within this time may leave the same time stamp, which kernels take from a coarse clock. */
const stampMs = 50;
/** How long a file that is written all the time is waited for. */
const maxSettleMs = 200;

const headerBytes = 100;
/** Of the WAL index: its salts, how far it is checkpointed, and how far a running checkpoint will get. */
const shmBytes = 132;

/** The rows that were read are not all of one version of the file. */
export class FileOverwritten extends Error {
  constructor() {
    super('the file was overwritten while it was read');
  }
}

/** What a file was at one moment. */
interface Mark {
  readonly stats: BigIntStats;
  readonly header: Buffer;
  /** Empty if the database has no write-ahead log. */
  readonly shm: Buffer;
}

/**
 * Tells whether a SQLite file is still the one that a read began with. SQLite's locks keep its own writers away, but not a
 * program that copies another database over the file, and the read would go on with the other one's pages.
 *
 * Uses descriptors of its own and closes them last: closing any descriptor of a file drops the locks that SQLite holds
 * on it in this process.
 */
export class SqliteSnapshot {
  readonly #path: string;
  readonly #file: number;
  #shm: number | undefined;
  readonly #before: BigIntStats;
  #start: Mark | undefined;

  /** Looks at the file; to be called before SQLite reads from it. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'r');
    this.#before = this.#settled();
  }

  /** SQLite's read has begun. False if the file was written since the constructor: the read is to begin again. */
  begin(): boolean {
    this.#shm = openIfThere(`${this.#path}-shm`);
    this.#start = this.#mark();
    return !isWritten(this.#before, this.#start.stats);
  }

  /** Whether the pages that were read may be of more than one version. To be called before SQLite's read ends. */
  get isBroken(): boolean {
    const start = this.#start;
    if (start === undefined) return false;
    const end = this.#mark();
    if (!isWritten(start.stats, end.stats)) return false;
    return !isCheckpointed(start.shm, end.shm) || !isLater(start.header, end.header);
  }

  /** To be called when SQLite has closed the file. */
  close(): void {
    closeSync(this.#file);
    if (this.#shm !== undefined) closeSync(this.#shm);
  }

  /** A file whose last write is so long ago that the next one will show. */
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

/** A link made or removed, by a rename over the file for instance, changes its ctime, and none of its bytes. */
function isWritten(before: BigIntStats, after: BigIntStats): boolean {
  const isLinked = before.nlink !== after.nlink;
  return (
    before.size !== after.size || before.mtimeNs !== after.mtimeNs || (!isLinked && before.ctimeNs !== after.ctimeNs)
  );
}

/**
 * Whether a writer moved pages from the write-ahead log to the file, which no reader of the log minds.
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
 * Whether a header may be a later one of the same database: made alike, and neither its change counter nor its schema
 * cookie has gone back. https://www.sqlite.org/fileformat.html#the_database_header
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
