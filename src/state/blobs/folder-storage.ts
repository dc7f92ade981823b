import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Kysely } from 'kysely';
import { Problem } from '../../lib/problem.ts';
import { folderProblem } from '../engine/folder-problem.ts';
import { stateFileProblem } from '../engine/state-problem.ts';
import { removeIfEmpty } from '../folder-files.ts';
import type { Tables } from '../tables.ts';
import {
  type BlobRef,
  type BlobRemains,
  type BlobStorage,
  nothing,
  pieceBytes,
  type StorageClaims,
} from './blob-storage.ts';
import { type FindStateId, idName } from './state-id.ts';
import { writeWhole } from './write-whole.ts';

/** Stores blobs as files in a folder that all machines mount. Each state has a subfolder, which its ID names. */
export class FolderStorage implements BlobStorage {
  readonly label: string;
  readonly place = 'a folder';
  readonly isInDatabase = false;
  readonly #findId: FindStateId;

  constructor(folder: string, findId: FindStateId) {
    this.label = folder;
    this.#findId = findId;
  }

  readonly claims: StorageClaims = {
    claim: async (db) => {
      const root = await this.#root(db);
      try {
        await writeWhole(join(root, idName), nothing(), { lasting: true });
      } catch (error) {
        throw folderProblem(error, { folder: this.label, kind: 'payloads' });
      }
    },
    isClaimed: async (db) => existsSync(join(await this.#root(db), idName)),
    unclaim: async (db) => {
      if ((await this.#findId(db)) !== undefined) rmSync(await this.#root(db), { recursive: true, force: true });
    },
  };

  async write({ name, db }: BlobRef, pieces: () => AsyncIterable<Buffer>): Promise<void> {
    await writeWhole(join(await this.#mounted(db), name), pieces(), { lasting: true });
  }

  async *read({ name, db }: BlobRef): AsyncGenerator<Buffer> {
    const path = join(await this.#root(db), name);
    const handle = await openFile(path);
    if (handle === undefined) {
      await this.#mounted(db);
      return;
    }
    try {
      for (;;) {
        const piece = Buffer.allocUnsafe(pieceBytes);
        const { bytesRead } = await handle.read(piece, 0, pieceBytes);
        if (bytesRead === 0) return;
        yield piece.subarray(0, bytesRead);
      }
    } catch (error) {
      throw stateFileProblem(error, path) ?? error;
    } finally {
      await handle.close();
    }
  }

  async remove({ name, db }: BlobRemains): Promise<void> {
    const root = await this.#mounted(db);
    const path = join(root, name);
    rmSync(path, { force: true });
    removeIfEmpty(dirname(path), root);
  }

  async #root(db: Kysely<Tables>): Promise<string> {
    return join(this.label, (await this.#findId(db)) ?? 'unknown');
  }

  /** Without this check, the payloads of a folder that isn't mounted at the moment would be considered lost. */
  async #mounted(db: Kysely<Tables>): Promise<string> {
    const root = await this.#root(db);
    const marker = join(root, idName);
    if (existsSync(marker)) return root;
    throw new Problem({
      code: 'STATE_UNREADABLE',
      family: 'try_later',
      message: 'The payloads folder is not mounted',
      seen: `no file ${marker}`,
      next: 'mount the folder that "payloads" names in the config',
    });
  }
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw stateFileProblem(error, path) ?? error;
  }
}
