import { statfsSync } from 'node:fs';
import type { DiskSpace } from '../lib/disk-space.ts';
import { bytesIn, diskUsageOf } from './disk-usage.ts';
import { diskFull, diskLimit } from './engine/disk-problems.ts';
import type { Forgotten } from './outbox/payload-files.ts';
import type { Store } from './store.ts';

/** Limits for the disk space that a state folder may use. */
export interface DiskLimits {
  readonly limitBytes: number;
  /**
   * Number of bytes that must stay free for other programs. By default, this is a twentieth of the disk, but at most
   * 100 MB.
   */
  readonly freeBytes?: number;
}

export interface DiskOptions {
  readonly store: Pick<Store, 'folder' | 'outbox' | 'payloads' | 'generations' | 'blobs'>;
  readonly limits: DiskLimits;
  /** Called after kept payloads were deleted to free space for new payloads. */
  readonly forgot: (what: Forgotten) => void;
}

/** The smallest amount of space that is granted at once. Smaller grants would cause too many measurements. */
const minGrantBytes = 1_000_000;
/** A copy that was used within this time may still be in use, such as by a run that reads it. */
const unusedMs = 3_600_000;
/** Divisor of the free space. A grant is only this fraction of it, because other processes write to the folder too. */
const grantedPart = 4;
const defaultFreeBytes = 100_000_000;
const freePart = 20;
/**
 * How many bytes to free in addition to the bytes that are needed, so that the next write doesn't have to free space
 * again.
 */
const moreBytes = 16_000_000;

/**
 * Grants disk space in a state folder within the folder's limit and the free space on its disk. Code that writes a
 * large file requests space first. If there isn't enough, copies of blobs are deleted, and then delivered payloads that are kept for rollbacks are deleted,
 * oldest first. No other files are ever deleted. If there still isn't enough space, the request is rejected. Several
 * processes together can exceed the limit, because each may write as much as it was granted, which is usually a quarter
 * of the free space.
 */
export class Disk implements DiskSpace {
  readonly #given: DiskOptions;
  /** Number of bytes that may still be written before the next measurement. */
  #left = 0;
  #looking: Promise<void> = Promise.resolve();

  constructor(given: DiskOptions) {
    this.#given = given;
  }

  claim(bytes: number): Promise<void> | undefined {
    if (bytes <= this.#left) {
      this.#left -= bytes;
      return undefined;
    }
    const looked = this.#looking.then(() => this.#look(bytes));
    this.#looking = looked.catch(() => undefined);
    return looked;
  }

  /**
   * Ensures that the disk has space for a copy of a blob. The limit doesn't apply: owed payloads count against it until
   * they're sent, and a payload can only be sent from a copy.
   */
  async claimCopy(bytes: number): Promise<void> {
    const measure = () => freeSpaceOf(this.#given, 0);
    let room = measure();
    if (room.free - room.keptFree < bytes && (await this.#evict())) room = measure();
    if (room.free - room.keptFree >= bytes) return;
    const { folder } = this.#given.store;
    throw diskFull({
      folder,
      free: room.free,
      keptFree: room.keptFree,
      holdings: await diskUsageOf(this.#given.store),
    });
  }

  async #look(bytes: number): Promise<void> {
    if (bytes <= this.#left) {
      this.#left -= bytes;
      return;
    }
    this.#left = 0;
    let room = await this.#measure();
    if (room.bytes < bytes && (await this.#evict())) room = await this.#measure();
    if (room.bytes < bytes && (await this.#forget(bytes - room.bytes + moreBytes))) room = await this.#measure();
    if (room.bytes < bytes) throw await this.#refusal(room, bytes);
    const granted = Math.min(room.bytes, Math.max(bytes, minGrantBytes, room.bytes / grantedPart));
    this.#left = granted - bytes;
  }

  async #measure(): Promise<RoomOnDisk> {
    const { store } = this.#given;
    const blobs = await store.blobs.all();
    return freeSpaceOf(this.#given, bytesIn(store.folder) + blobs.reduce((sum, { bytes }) => sum + bytes, 0));
  }

  /** Deletes copies of files that can be fetched again. Returns whether there were any. */
  async #evict(): Promise<boolean> {
    const { blobs, payloads, generations } = this.#given.store;
    return (await blobs.evict(payloads.root, unusedMs)) + (await blobs.evict(generations.root, unusedMs)) > 0;
  }

  async #forget(bytes: number): Promise<boolean> {
    const { store, forgot } = this.#given;
    const forgotten = await store.payloads.forget(bytes);
    if (forgotten.payloads === 0) return false;
    await store.generations.prune();
    forgot(forgotten);
    return true;
  }

  async #refusal({ used, free, keptFree }: RoomOnDisk, wanted: number): Promise<Error> {
    const { store, limits } = this.#given;
    const { folder } = store;
    const holdings = await diskUsageOf(store);
    return limits.limitBytes - used < free - keptFree
      ? diskLimit({ folder, used, wanted, holdings, limitBytes: limits.limitBytes })
      : diskFull({ folder, free, keptFree, holdings });
  }
}

interface RoomOnDisk {
  /** Number of bytes that may be written. Negative if the limit has already been exceeded. */
  readonly bytes: number;
  /** Bytes in the folder. */
  readonly used: number;
  readonly free: number;
  /** Bytes that must stay free. */
  readonly keptFree: number;
}

/**
 * Measures how much space is left in a state folder. `used` is the size of the folder and the blobs in bytes.
 */
export function freeSpaceOf(
  { store, limits }: { store: Pick<Store, 'folder'>; limits: DiskLimits },
  used: number,
): RoomOnDisk {
  const { bavail, blocks, bsize } = statfsSync(store.folder);
  const free = bavail * bsize;
  const keptFree = limits.freeBytes ?? Math.min(defaultFreeBytes, (blocks * bsize) / freePart);
  return { bytes: Math.min(limits.limitBytes - used, free - keptFree), used, free, keptFree };
}
