import type { Manifest } from '../kept-rows/manifest.ts';
import { MergeRun, type MergeRunOptions } from '../kept-rows/merge-run.ts';
import { Problem } from '../lib/problem.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { RowsAgain } from '../sdk/extraction.ts';
import type { SourceEnd, SourceReader } from './source.ts';
import { spoolProblem } from './spool-problem.ts';

/** A stream of rows: a source, or a source merged with kept rows. */
export interface RowSource {
  open(): Promise<readonly Column[]>;
  next(): Promise<Batch | undefined>;
  /** Number of rows returned so far. */
  readonly rows: number;
  /** How the source ended. Call this after the last row. */
  ending(): SourceEnd;
}

/** Input for a run of a job with kept rows. */
export interface KeptRowsOptions extends Omit<MergeRunOptions, 'scratch' | 'asOf' | 'zone' | 'rule'> {
  /** Whether to send the result even if the source has nothing new. */
  readonly mustSend: boolean;
}

/**
 * First merges all rows of a source with the kept rows, then returns the merged rows. The caller keeps or discards the
 * new generation's files.
 */
export class MergedSource implements RowSource {
  readonly #source: SourceReader;
  readonly #run: MergeRun;
  readonly #options: KeptRowsOptions & MergeRunOptions;
  readonly #onBatch: () => void;
  #rows = 0;

  /** `onBatch`: called after each of the source's batches. */
  constructor(source: SourceReader, given: KeptRowsOptions & MergeRunOptions, onBatch: () => void) {
    this.#source = source;
    this.#options = given;
    this.#run = new MergeRun(given);
    this.#onBatch = onBatch;
  }

  get rows(): number {
    return this.#rows;
  }

  /** See {@link MergeRun.warnings}. */
  get warnings(): readonly RunWarning[] {
    return this.#run.warnings;
  }

  /** Whether there's nothing to send: there are no new rows, and nothing else would change. */
  get isIdle(): boolean {
    return !this.#options.mustSend && this.#run.isIdle;
  }

  /** Reads the whole source. */
  async open(): Promise<readonly Column[]> {
    const columns = await this.#source.open();
    this.#run.begin({ columns, ...this.#source.properties });
    for (let batch = await this.#source.next(); batch !== undefined; batch = await this.#source.next()) {
      const taken = batch;
      await this.#guarded(() => this.#run.take(taken));
      this.#onBatch();
    }
    const { cursor, comesAgain } = this.#source.properties;
    const again = this.#options.rule.disposition === 'append' ? comesAgain?.() : undefined;
    if (again !== undefined) throw cannotAppend(again, cursor);
    if (this.#comparesKeys) await this.#takeKeys();
    if (this.isIdle) return columns;
    await this.#guarded(() => this.#run.merge());
    return this.#run.columns;
  }

  /**
   * Whether kept rows that the source no longer has are deleted. During a backfill, they wait: the files of its ranges
   * are older than a compacted file, so that file's rows would replace theirs.
   */
  get #comparesKeys(): boolean {
    const { rule, current, staged, isHeld = false } = this.#options;
    const isRange = this.#source.properties.covers !== undefined;
    return rule.deletes === 'compare' && current !== undefined && staged === undefined && !isHeld && !isRange;
  }

  /** Reads all keys. If the source fails before the last one, this throws, and nothing is deleted. */
  async #takeKeys(): Promise<void> {
    this.#run.beginKeys(await this.#source.openKeys());
    for (let batch = await this.#source.next(); batch !== undefined; batch = await this.#source.next()) {
      const taken = batch;
      await this.#guarded(() => this.#run.takeKeys(taken));
      this.#onBatch();
    }
    await this.#guarded(() => this.#run.endKeys());
  }

  async next(): Promise<Batch | undefined> {
    const batch = await this.#guarded(() => this.#run.next());
    this.#rows += batch?.length ?? 0;
    return batch;
  }

  ending(): SourceEnd {
    const { missing } = this.#run;
    if (missing !== undefined) this.#source.reportMissing(missing);
    return { ...this.#source.ending(), unchanged: this.isIdle };
  }

  /** Completes the new generation on disk and returns its manifest. */
  seal(): Promise<Manifest> {
    return this.#guarded(() => this.#run.seal());
  }

  close(): Promise<void> {
    return this.#run.close();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const isOfDisk = (thrown as NodeJS.ErrnoException).syscall !== undefined;
      throw isOfDisk ? spoolProblem(thrown, this.#options.folder) : thrown;
    }
  }
}

const mergeByKey = 'merge by a key (write: {disposition: merge, key: [id]})';

function cannotAppend(again: RowsAgain, cursor: string | undefined): Problem {
  const common = {
    code: 'SET_ROWS_AGAIN',
    family: 'job',
    where: cursor === undefined ? {} : { column: cursor },
  } as const;
  if (again.why === 'too_many') {
    return new Problem({
      ...common,
      message:
        'too many rows have the newest cursor value or are within its lag, so the next run cannot distinguish them from new rows: append would duplicate them',
      next: `${mergeByKey}, shorten the lag, or use a cursor column with more precise values`,
    });
  }
  const gone = again.columns.map((name) => JSON.stringify(name)).join(', ');
  return new Problem({
    ...common,
    message:
      'the columns have changed since the last run, so rows with the newest cursor value, or within its lag, cannot be distinguished from new rows: append would duplicate them',
    ...(gone === '' ? {} : { seen: `lost, or of another type: ${gone}` }),
    next: `restore the column at the source; otherwise ${mergeByKey}, or let the job read everything again: \`sluice state clear JOB\` (both drop rows that the source no longer has, so take a backup first)`,
  });
}
