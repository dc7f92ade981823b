import type { Manifest } from '../kept-rows/manifest.ts';
import { MergeRun, type MergeRunOptions } from '../kept-rows/merge-run.ts';
import { Problem } from '../lib/problem.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { RowsAgain } from '../sdk/connector.ts';
import type { SourceEnd, SourceReader } from './source.ts';
import { spoolProblem } from './spool-problem.ts';

/** Where rows come from: a source, or what they are put together with. */
export interface RowSource {
  open(): Promise<readonly Column[]>;
  next(): Promise<Batch | undefined>;
  /** Rows handed on so far. */
  readonly rows: number;
  /** How the source ended; asked when its last row has been taken. */
  ending(): SourceEnd;
}

/** What a run needs for a job that keeps its rows. */
export interface KeptRowsOptions extends Omit<MergeRunOptions, 'scratch' | 'asOf' | 'zone' | 'rule'> {
  /** What it comes to has to be sent, also where the source has nothing new. */
  readonly mustSend: boolean;
}

/**
 * A source whose rows are put into a data set first, all of them; what is handed on is the whole of that. The files of
 * the set are the caller's to keep or to discard.
 */
export class MergedSource implements RowSource {
  readonly #source: SourceReader;
  readonly #run: MergeRun;
  readonly #options: KeptRowsOptions & MergeRunOptions;
  readonly #onBatch: () => void;
  #rows = 0;

  /** `onBatch`: after every batch of the source. */
  constructor(source: SourceReader, given: KeptRowsOptions & MergeRunOptions, onBatch: () => void) {
    this.#source = source;
    this.#options = given;
    this.#run = new MergeRun(given);
    this.#onBatch = onBatch;
  }

  get rows(): number {
    return this.#rows;
  }

  /** {@link MergeRun.replaced}. */
  get replaced(): RunWarning | undefined {
    return this.#run.replaced;
  }

  /** Nothing has come, and nothing would change. */
  get isIdle(): boolean {
    return !this.#options.mustSend && this.#run.isIdle;
  }

  /** Reads all of the source. */
  async open(): Promise<readonly Column[]> {
    const columns = await this.#source.open();
    this.#run.begin({ columns, ...this.#source.said });
    for (let batch = await this.#source.next(); batch !== undefined; batch = await this.#source.next()) {
      const taken = batch;
      await this.#guarded(() => this.#run.take(taken));
      this.#onBatch();
    }
    const { cursor, comesAgain } = this.#source.said;
    const again = this.#options.rule.disposition === 'append' ? comesAgain?.() : undefined;
    if (again !== undefined) throw cannotAppend(again, cursor);
    if (this.isIdle) return columns;
    await this.#guarded(() => this.#run.merge());
    return this.#run.columns;
  }

  async next(): Promise<Batch | undefined> {
    const batch = await this.#guarded(() => this.#run.next());
    this.#rows += batch?.length ?? 0;
    return batch;
  }

  ending(): SourceEnd {
    return { ...this.#source.ending(), unchanged: this.isIdle };
  }

  /** The set as it is now: whole on the disk. */
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
        'more rows share the newest value of the cursor, or lie within its lag, than can be told from new ones next time: appended, they would be there twice',
      next: `${mergeByKey}, make the lag shorter, or read on by a column with finer values`,
    });
  }
  const gone = again.columns.map((name) => JSON.stringify(name)).join(', ');
  return new Problem({
    ...common,
    message:
      'the columns have changed since the last run: rows that it got at the newest value of the cursor, or within its lag, cannot be told from new ones; appended, they would be there twice',
    ...(gone === '' ? {} : { seen: `no column ${gone}` }),
    next: `put the column back where the rows come from; else ${mergeByKey}, or let the job read everything again: \`sluice state clear JOB\`. Both drop rows that the source no longer has, so take a backup first`,
  });
}
