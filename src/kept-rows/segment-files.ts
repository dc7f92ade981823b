import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import { syncPath } from '../lib/sync-path.ts';

interface SegmentFilesOptions {
  /** Folder of the kept rows of all jobs. */
  readonly folder: string;
  /** The run's ID, which is also the name of the subfolder that it writes to. */
  readonly run: string;
  /** For a preview, the folder to write to instead. */
  readonly aside?: string;
}

/** Names the segment files of a run, and finds those of earlier runs. */
export class SegmentFiles {
  readonly #options: SegmentFilesOptions;
  /** Distinguishes the files of a run's attempts, which may be on different machines. */
  readonly #id = randomBytes(4).toString('hex');
  #count = 0;

  constructor(options: SegmentFilesOptions) {
    this.#options = options;
  }

  /** Names the run's next file, and creates the folder for it. */
  next(): string {
    makeFolder(join(this.#place, this.#options.run), 0o700);
    this.#count += 1;
    return this.last;
  }

  /** The name of the last file, relative to the folder of kept rows. */
  get last(): string {
    return `${this.#options.run}/${this.#id}-${this.#count}.rows`;
  }

  /** The path of a file of this run or an earlier one. */
  pathOf(file: string): string {
    const { run, folder } = this.#options;
    return join(file.startsWith(`${run}/`) ? this.#place : folder, file);
  }

  /** Makes the names of the run's files durable. */
  async sync(): Promise<void> {
    if (this.#count === 0) return;
    const place = this.#place;
    for (const made of [join(place, this.#options.run), place, dirname(place)]) await syncPath(made);
  }

  get #place(): string {
    const { folder, aside = folder } = this.#options;
    return aside;
  }
}
