import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { entriesIn } from '../../lib/files-below.ts';
import { Repository } from '../engine/context.ts';
import { removeIfEmpty } from '../folder-files.ts';

/**
 * The folders in which a run's attempts leave files for the next attempt, such as the pages of an API. A run can end in
 * many ways, also in another process, so folders are removed by a sweep.
 */
export class AttemptFiles extends Repository {
  /** A run's folder. It may not exist. */
  folderOf(run: string): string {
    return join(this.#root, run);
  }

  /** Removes the folders of runs that have ended. Call this after each run. */
  async sweep(): Promise<void> {
    const folders = entriesIn(this.#root).map(({ name }) => name);
    if (folders.length === 0) return removeIfEmpty(this.#root, this.context.folder);
    const rows = await this.context.db
      .selectFrom('runs')
      .select('id')
      .where('state', 'in', ['running', 'retrying'])
      .execute();
    const living = new Set(rows.map(({ id }) => id));
    for (const run of folders) if (!living.has(run)) await rm(this.folderOf(run), { recursive: true, force: true });
    removeIfEmpty(this.#root, this.context.folder);
  }

  get #root(): string {
    return join(this.context.folder, 'attempts');
  }
}
