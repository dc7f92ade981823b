import { setImmediate as nextTurn } from 'node:timers/promises';
import { countOf } from '../lib/count-text.ts';
import { Problem, toProblem } from '../lib/problem.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { Batch } from '../sdk/batch.ts';
import { checkBatch, checkColumns } from '../sdk/batch-contract.ts';
import type { Column } from '../sdk/column.ts';
import type { Extraction, KeyList } from '../sdk/extraction.ts';
import { runRowsOf } from './job-rows-reader.ts';
import { makeScratch } from './scratch.ts';
import { ScratchWatch } from './scratch-watch.ts';
import type { LogInContext, SourceReaderOptions } from './source-reader-options.ts';
import { scratchProblem } from './spool-problem.ts';
import { StallTimer } from './stall-timer.ts';

/** How long a source may take to close after an abort. After that, it's abandoned. */
const closeMs = 2000;
/**
 * Interval for yielding to the event loop, because a source that never waits would block timers, signals and
 * heartbeats.
 */
const turnMs = 25;

/** A source's end state, after its last batch. */
export interface SourceEnd {
  /** The new watermark; undefined if it's unchanged. */
  readonly watermark: string | undefined;
  /** Whether the source reports no changes since the given watermark. */
  readonly unchanged: boolean;
  /** Whether the rows are only a part of those that a run would return. */
  readonly isSample: boolean;
}

/**
 * Runs a connector and enforces its contract: applies a stall timeout, checks batches, and closes the connector however
 * the run ends. Errors become Problems that name the source.
 */
export class SourceReader {
  readonly #options: SourceReaderOptions;
  readonly #stallTimer: StallTimer;
  readonly #watch: ScratchWatch | undefined;
  readonly #stop = new AbortController();
  readonly #onAbort = () => this.#stop.abort(this.#options.signal.reason);
  #columns: readonly Column[] = [];
  #extraction: Extraction | undefined;
  #iterator: AsyncIterator<Batch> | undefined;
  #rows = 0;
  /** Set once all rows have been read and their keys follow. */
  #keys: KeyList | undefined;
  #turned: number;
  /** The error for a warning that the job's guards forbid. */
  #unwanted: unknown;

  constructor(given: SourceReaderOptions) {
    const { signal, clock, extract } = given;
    this.#options = given;
    this.#turned = clock.monotonic();
    if (signal.aborted) this.#onAbort();
    signal.addEventListener('abort', this.#onAbort);
    this.#stallTimer = new StallTimer({
      clock,
      signal,
      limitMs: extract.stallTimeoutMs,
      exhausted: (waited) => this.#stalled(waited),
    });
    const { scratch, room } = given;
    if (room !== undefined) this.#watch = new ScratchWatch({ scratch, room, full: (why) => this.#refuse(why) });
  }

  /** Number of rows returned so far. */
  get rows(): number {
    return this.#rows;
  }

  /** Properties of the rows to come. Empty until the source is open. */
  get properties(): Pick<Extraction, 'cursor' | 'covers' | 'comesAgain' | 'absentColumns' | 'firstPage'> {
    return this.#extraction ?? {};
  }

  /** Opens the source; resolves to the columns of all batches. */
  async open(): Promise<readonly Column[]> {
    const started = this.#start();
    try {
      const extraction = await this.#stallTimer.wait(started);
      this.#extraction = extraction;
      this.#iterator = extraction.batches[Symbol.asyncIterator]();
      this.#columns = extraction.columns;
      checkColumns(extraction.columns);
      return extraction.columns;
    } catch (thrown) {
      if (this.#iterator === undefined) started.then(closeUnread, () => {});
      throw this.#blamed(thrown);
    }
  }

  /** Opens the list of all keys. Call this after the last row; {@link next} then returns the keys. */
  async openKeys(): Promise<readonly Column[]> {
    const started = Promise.try(() => this.#extraction!.readKeys!());
    try {
      this.#keys = await this.#stallTimer.wait(started);
      const { columns, batches } = this.#keys;
      this.#iterator = batches[Symbol.asyncIterator]();
      this.#columns = columns;
      checkColumns(columns);
      return columns;
    } catch (thrown) {
      if (this.#iterator === undefined) started.then(closeUnread, () => {});
      throw this.#blamed(thrown);
    }
  }

  /** The next non-empty batch; undefined at the end. */
  async next(): Promise<Batch | undefined> {
    try {
      for (;;) {
        await this.#takeTurn();
        if (this.#watch?.refusal !== undefined) throw this.#watch.refusal;
        const step = await this.#stallTimer.wait(Promise.resolve(this.#iterator!.next()));
        if (step.done === true) return this.#ended();
        checkBatch(step.value, this.#columns);
        if (this.#keys === undefined) this.#rows += step.value.length;
        if (step.value.length > 0) return step.value;
      }
    } catch (thrown) {
      throw this.#blamed(thrown);
    }
  }

  /** Reports that the job lacks rows whose keys were read: {@link KeyList.onMissing}. */
  reportMissing(cursor: string): void {
    this.#keys?.onMissing(cursor);
  }

  /** How the extract ended. Call this after the last batch, and only if all batches were read. */
  ending(): SourceEnd {
    try {
      const extraction = this.#extraction;
      const unchanged = this.#options.watermark !== undefined && (extraction?.unchanged?.() ?? false);
      return { watermark: extraction?.watermark?.(), unchanged, isSample: extraction?.isSample ?? false };
    } catch (thrown) {
      throw this.#blamed(thrown);
    }
  }

  /**
   * Closes the source. When this settles, its connection and files have been released, unless it was abandoned after a
   * timeout. Rejects if one of the job's guards forbids a warning.
   */
  async close(): Promise<void> {
    this.#stallTimer.end();
    this.#watch?.end();
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    const iterator = this.#iterator;
    this.#iterator = undefined;
    if (iterator?.return !== undefined) await this.#return(iterator);
    this.#stop.abort();
    if (this.#unwanted !== undefined) throw this.#blamed(this.#unwanted);
  }

  /**
   * Passes on a warning. If a guard forbids it, keeps the error, because a source that is closed early may still give a
   * warning that fails the run.
   */
  #warn(warning: RunWarning): void {
    try {
      this.#options.warn(warning);
    } catch (thrown) {
      this.#unwanted = thrown;
      throw thrown;
    }
  }

  /** Aborts the source, because there's no space for its files. */
  #refuse(why: unknown): void {
    this.#stop.abort(why);
    this.#stallTimer.giveUp(why);
  }

  #start(): Promise<Extraction> {
    const { extract, folder, scratch, log, login, guard, rowsOf } = this.#options;
    const { logicalAt, watermark, keptColumns, range, attemptFacts, preview, isDryRun } = this.#options;
    const { connector, options } = extract.source;
    const alive = () => this.#stallTimer.refresh();
    const warn = (warning: RunWarning) => this.#warn(warning);
    const { query, timezone, write } = extract;
    const context = {
      ...{ source: options, query, folder, signal: this.#stop.signal, log, alive, warn },
      login,
      timezone,
      logicalAt,
      watermark,
      keptColumns,
      range,
      attemptFacts,
      preview,
      isDryRun,
      comparedKey: write?.deletes === 'compare' ? write.key : undefined,
      rowsOf: rowsOf && runRowsOf(rowsOf, { scratch, onBatch: () => this.#onJobRows() }),
    };
    const open = (logIn: LogInContext) =>
      Promise.try(() =>
        connector.extract({
          ...context,
          ...logIn,
          // Create the folder on first use, because most sources don't need it.
          get scratch() {
            return makeScratch(scratch);
          },
        }),
      );
    return guard === undefined ? open({}) : guard({ signal: this.#stop.signal, login }, open);
  }

  /** Reading another job's rows counts as progress, and ends when the run is stopped. */
  #onJobRows(): Promise<void> {
    this.#stop.signal.throwIfAborted();
    this.#stallTimer.refresh();
    return this.#takeTurn();
  }

  async #takeTurn(): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (now - this.#turned < turnMs) return;
    this.#turned = now;
    await nextTurn();
  }

  #ended(): undefined {
    this.#iterator = undefined;
    return undefined;
  }

  async #return(iterator: AsyncIterator<Batch>): Promise<void> {
    const { clock, log, extract } = this.#options;
    const enough = new AbortController();
    const late = clock.sleep(closeMs, enough.signal).then(
      () => log.warn('The source did not close in time and was abandoned', { source: extract.source.name }),
      () => {},
    );
    const returned = Promise.try(() => iterator.return?.()).catch((error: unknown) =>
      log.warn('The source did not close cleanly', { source: extract.source.name, error: String(error) }),
    );
    await Promise.race([returned, late]);
    enough.abort('closed');
  }

  #blamed(thrown: unknown): unknown {
    const { signal, extract, scratch } = this.#options;
    if (signal.aborted) return signal.reason;
    const full = this.#watch?.refusal;
    if (full !== undefined) {
      return toProblem(full, { code: 'SPOOL_FAILED', family: 'try_later' }).at({ source: extract.source.name });
    }
    if (!this.#stop.signal.aborted) this.#stop.abort(thrown);
    const problem = scratchProblem(thrown, scratch) ?? toProblem(thrown, { code: 'CONNECTOR_THREW', family: 'bug' });
    return problem.at({ source: extract.source.name, stage: 'extract' });
  }

  #stalled(waitedMs: number): Problem {
    const seconds = Math.round(waitedMs / 1000);
    const asking = this.#iterator === undefined ? 'while connecting and querying' : 'between two batches';
    return new Problem({
      code: 'SOURCE_STALLED',
      family: 'try_later',
      message: `The source sent no data for ${seconds} s ${asking}`,
      seen: `${countOf(this.#rows, 'row')} so far`,
      allowed: `at most ${this.#options.extract.stallTimeoutMs / 1000} s without data`,
      next: 'check the source for a lock or a slow query plan; if such pauses are normal, raise stall_timeout_seconds',
    });
  }
}

/** Closes an extract that was opened after its caller stopped waiting. */
function closeUnread(extraction: Pick<Extraction, 'batches'>): void {
  void Promise.try(() => extraction.batches[Symbol.asyncIterator]().return?.()).catch(() => {});
}
