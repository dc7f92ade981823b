import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import { filesBelow } from '../../lib/files-below.ts';
import { chunksOf } from '../engine/chunks.ts';
import { Repository } from '../engine/context.ts';
import { absolutePath, storedPath } from '../engine/stored-paths.ts';
import { removeFile, removeIfEmpty, touchedAt } from '../folder-files.ts';
import type { BlobBackend } from './blob-storage.ts';
import { fetchFile } from './fetch-file.ts';
import { storeFile } from './store-file.ts';

interface Lockable<Q> {
  forShare(): Q;
}

/** A file that must be stored before the state refers to it. */
export interface BlobFile {
  readonly path: string;
  /** The expected hash, if it's known. */
  readonly sha256?: string;
}

/**
 * The files that the state refers to: payloads and kept rows. If the state is a folder, they're the files in this
 * folder. If it's in a database that several machines share, they're blobs, and the files in the folder are copies on
 * this machine, which may vanish at any time.
 */
export class StateBlobs extends Repository {
  /** Whether the files in the state folder are copies of blobs. */
  get areShared(): boolean {
    return this.context.blobs !== undefined;
  }

  /** Where blobs are stored. Undefined if the files in the state folder are the only ones. */
  get backend(): BlobBackend | undefined {
    return this.context.blobs;
  }

  /** Stores files that aren't stored yet. Call this before the transaction that refers to them. */
  async put(files: readonly BlobFile[]): Promise<void> {
    const { blobs } = this.context;
    if (blobs === undefined) return;
    const stored = await this.sizes(files.map(({ path }) => path));
    const now = Math.round(this.context.clock.now());
    for (const file of files) {
      if (!stored.has(file.path)) await storeFile(blobs, { ...file, now, name: this.#nameOf(file.path) });
    }
  }

  /**
   * Fetches a file, replacing this machine's copy, and verifies it. Returns undefined if there's nothing to fetch it
   * from, because the file in the state folder is the only one.
   */
  async fetch(path: string): Promise<'whole' | 'missing' | 'damaged' | undefined> {
    const { blobs, db } = this.context;
    if (blobs === undefined) return undefined;
    const name = this.#nameOf(path);
    const known = await db.selectFrom('blobs').selectAll().where('name', '=', name).executeTakeFirst();
    if (known === undefined || known.sha256 === null) return 'missing';
    const { bytes, sha256, stored_at: storedAt } = known;
    await this.context.copies?.claim?.(bytes);
    return fetchFile(blobs, { path, name, bytes, sha256, storedAt });
  }

  /** Ensures that this machine has a copy of a file that is about to be read without verification. */
  async ensureHere(path: string): Promise<void> {
    if (this.areShared && !existsSync(path)) await this.fetch(path);
  }

  /** Returns the sizes of those of the files that exist. */
  sizes(paths: Iterable<string>): Promise<Map<string, number>> {
    return this.#sizes(paths, (query) => query);
  }

  /**
   * Like {@link sizes}, for files that a transaction is about to refer to. Until the transaction ends, no other
   * transaction can drop them.
   */
  pin(paths: Iterable<string>): Promise<Map<string, number>> {
    return this.#sizes(paths, (query) => query.forShare());
  }

  async #sizes(paths: Iterable<string>, lock: <Q extends Lockable<Q>>(query: Q) => Q): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    if (!this.areShared) {
      for (const path of paths) {
        const size = statSync(path, { throwIfNoEntry: false })?.size;
        if (size !== undefined) sizes.set(path, size);
      }
      return sizes;
    }
    for (const some of chunksOf([...new Set(paths)])) {
      const names = some.map((path) => this.#nameOf(path));
      const whole = this.context.db.selectFrom('blobs').select(['name', 'bytes']).where('sha256', 'is not', null);
      for (const { name, bytes } of await lock(whole.where('name', 'in', names)).execute()) {
        sizes.set(this.#pathOf(name), bytes);
      }
    }
    return sizes;
  }

  /** Waits for transactions that {@link pin} the file. Call this before checking whether the file is still needed. */
  async lock(path: string): Promise<void> {
    if (this.context.blobs === undefined) return;
    await this.context.db
      .selectFrom('blobs')
      .select('name')
      .where('name', '=', this.#nameOf(path))
      .forUpdate()
      .execute();
  }

  /** Deletes a file that the state no longer refers to. */
  async drop(path: string): Promise<void> {
    const { blobs, db } = this.context;
    if (blobs !== undefined) {
      const name = this.#nameOf(path);
      if (blobs.storage.isInDatabase) {
        await blobs.storage.remove({ name, storedAt: 0, db });
        await db.deleteFrom('blobs').where('name', '=', name).execute();
      } else {
        await db
          .updateTable('blobs')
          .set({ sha256: null, stored_at: sql`-abs(stored_at)` })
          .where('name', '=', name)
          .execute();
      }
    }
    removeFile(path);
  }

  /**
   * Deletes this machine's copies of stored files below a folder that weren't used for `unusedMs`. Returns the number
   * of bytes that were freed.
   */
  async evict(folder: string, unusedMs: number): Promise<number> {
    if (!this.areShared) return 0;
    const end = this.context.clock.now() - unusedMs;
    let freed = 0;
    for (const [path, bytes] of await this.sizes(filesBelow(folder).filter((path) => touchedAt(path) < end))) {
      removeFile(path);
      removeIfEmpty(dirname(path), folder);
      freed += bytes;
    }
    return freed;
  }

  /** Removes the bytes of dropped blobs that aren't in the database, which no transaction could remove. */
  async purge(): Promise<void> {
    const { blobs } = this.context;
    if (blobs === undefined || blobs.storage.isInDatabase) return;
    const dropped = await this.context.db
      .selectFrom('blobs')
      .select(['name', 'stored_at'])
      .where('stored_at', '<=', 0)
      .execute();
    for (const { name, stored_at } of dropped) {
      await blobs.db.transaction().execute(async (db) => {
        // A process that stores the blob again at the same time waits for this lock.
        const row = await db
          .selectFrom('blobs')
          .select('name')
          .where('name', '=', name)
          .where('stored_at', '=', stored_at)
          .forUpdate()
          .skipLocked()
          .executeTakeFirst();
        if (row === undefined) return;
        await blobs.storage.remove({ name, storedAt: -stored_at, db });
        await db.deleteFrom('blobs').where('name', '=', name).execute();
      });
    }
  }

  /** Returns the blobs with their sizes, even if they aren't complete. Empty if the files in the folder are the only ones. */
  async all(): Promise<{ readonly path: string; readonly bytes: number }[]> {
    if (!this.areShared) return [];
    const rows = await this.context.db
      .selectFrom('blobs')
      .select(['name', 'bytes'])
      .where('stored_at', '>', 0)
      .execute();
    return rows.map(({ name, bytes }) => ({ path: this.#pathOf(name), bytes }));
  }

  /** Returns when each file below a folder was stored, in epoch milliseconds, even if it isn't stored completely. */
  async below(folder: string): Promise<Map<string, number>> {
    if (this.context.blobs === undefined) return new Map();
    const prefix = `${this.#nameOf(folder)}/`;
    const rows = await this.context.db
      .selectFrom('blobs')
      .select(['name', 'stored_at'])
      .where('stored_at', '>', 0)
      .where('name', '>=', prefix)
      .where('name', '<', `${prefix}\uffff`)
      .execute();
    return new Map(rows.map(({ name, stored_at }) => [this.#pathOf(name), stored_at]));
  }

  #nameOf(path: string): string {
    return storedPath(this.context.folder, path);
  }

  #pathOf(name: string): string {
    return absolutePath(this.context.folder, name);
  }
}
