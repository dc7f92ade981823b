import type { FirstPage, RunWarning } from '#sdk';
import type { PagesOptions } from './pages-options.ts';

/** Number of parents with records that a dry run reads. */
const dryParents = 3;

/** A preview or dry run ends after this many paths, periods or parents, even if none of them has records. */
const maxTried = 10;

/**
 * Decides what a preview or dry run reads. Users want to see records, so a preview ends with the first page that has
 * some, and a dry run with the third parent that has some. Any other run reads everything.
 */
export class Sample {
  readonly isPartial: boolean;
  readonly #wanted: number;
  readonly #maxTried: number;
  #tried = 0;
  #found = 0;
  #hasSkipped = false;
  #page: FirstPage | undefined;

  constructor({ isDryRun = false, preview, query }: Pick<PagesOptions, 'isDryRun' | 'preview' | 'query'>) {
    this.isPartial = isDryRun || preview !== undefined;
    this.#wanted = preview === undefined ? dryParents : 1;
    // The server may limit how many reports can be started.
    this.#maxTried = query.report === undefined ? maxTried : 1;
  }

  /** Whether to read another path, period or parent. */
  takesMore(): boolean {
    const isEnough = this.isPartial && (this.#found >= this.#wanted || this.#tried >= this.#maxTried);
    this.#hasSkipped ||= isEnough;
    return !isEnough;
  }

  /** The page that was read, or all pages of the parent. */
  note(page: FirstPage): void {
    this.#tried++;
    if (page.records > 0) this.#found++;
    if (this.#page === undefined || (this.#page.records === 0 && page.records > 0)) this.#page = page;
  }

  /** The first page with records, or the first page if none has records. A run would also read what was skipped. */
  get firstPage(): FirstPage | undefined {
    return this.#page && { ...this.#page, hasNext: this.#page.hasNext || this.#hasSkipped };
  }

  /** The warning if not all parents were read. */
  warning(parents: number): RunWarning | undefined {
    if (!this.#hasSkipped) return undefined;
    return {
      code: 'REST_FIRST_PARENTS',
      message: `This dry run read the records of ${this.#tried} of ${parents} parents`,
      next: 'run the job, or write all of its rows to a file with `sync --to FILE`, to read all parents',
    };
  }
}
