import { join } from 'node:path';
import type { Encoder } from '../formats/format.ts';
import { Output } from '../formats/output.ts';
import { joinLayouts } from '../kept-rows/kept-columns.ts';
import type { Manifest } from '../kept-rows/manifest.ts';
import { toProblem } from '../lib/problem.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import { Chain } from './chain.ts';
import { type KeptRowsOptions, MergedSource, type RowSource } from './merged-source.ts';
import { makeScratch, removeScratch } from './scratch.ts';
import { type SourceEnd, SourceReader } from './source.ts';
import type { SourceReaderOptions } from './source-reader-options.ts';
import { tempFilePrefix } from './temp-file-owner.ts';

/** Destination of encoded bytes. */
export interface Sink {
  /**
   * Writes the chunks, and passes each to `recycle` when its memory can be reused. If this returns a promise, await it.
   */
  write(pieces: readonly Buffer[], recycle: (piece: Buffer) => void): Promise<void> | undefined;
}

export interface StreamRowsOptions extends Omit<SourceReaderOptions, 'scratch' | 'range' | 'keptColumns'> {
  /** The parent of the connector's scratch folder. */
  readonly spool: string;
  /** The run's ID. */
  readonly run: string;
  readonly sink: Sink;
  /** Set for a job with kept rows. */
  readonly keptRows?: KeptRowsOptions;
  /** The run's start in epoch milliseconds. Default: now. */
  readonly asOf?: number;
  /** Called after every batch. */
  readonly onProgress: (carried: StreamProgress) => void;
  /** Called with every encoded batch. */
  readonly onBatch?: (batch: Batch) => void;
}

/** Progress so far. It's the same object throughout the run. */
export interface StreamProgress {
  columns: readonly Column[];
  /** Number of rows returned by the source. */
  rowsRead: number;
  /** Encoded rows. */
  rows: number;
  bytes: number;
  /** How the source ended; absent while it still has rows, or if not all rows were needed. */
  ending?: SourceEnd;
  /** The new generation, for a job with kept rows. */
  manifest?: Manifest;
}

/** Extracts, transforms and encodes all rows, and writes the bytes to the sink. */
export async function streamRows(given: StreamRowsOptions): Promise<StreamProgress> {
  given.signal.throwIfAborted();
  const scratch = join(given.spool, `${tempFilePrefix()}${given.run}.scratch`);
  const { current, staged } = given.keptRows ?? {};
  const keptColumns = joinLayouts(current?.columns ?? [], staged?.columns ?? []);
  const source = new SourceReader({ ...given, scratch, keptColumns });
  const carrier = new RowStreamer(given, { source, scratch });
  try {
    return await carrier.run();
  } finally {
    await carrier.close();
    await source.close().finally(() => removeScratch(scratch, given.log));
  }
}

class RowStreamer {
  readonly #options: StreamRowsOptions;
  readonly #source: SourceReader;
  readonly #merged: MergedSource | undefined;
  readonly #out = new Output();
  readonly #recycle = (piece: Buffer) => this.#out.recycle(piece);
  readonly #progress: StreamProgress = { columns: [], rowsRead: 0, rows: 0, bytes: 0 };

  constructor(given: StreamRowsOptions, { source, scratch }: { source: SourceReader; scratch: string }) {
    this.#options = given;
    this.#source = source;
    const { extract, keptRows, clock, asOf = clock.now(), room } = given;
    const { write: rule, timezone: zone = 'UTC' } = extract;
    if (keptRows === undefined || rule === undefined) return;
    const options = { ...keptRows, rule, scratch: makeScratch(scratch), asOf, zone, room };
    this.#merged = new MergedSource(source, options, () => this.#report());
  }

  async run(): Promise<StreamProgress> {
    const { extract } = this.#options;
    const rows = this.#merged ?? this.#source;
    const columns = await rows.open();
    if (this.#merged?.isIdle === true) return this.#finish(rows);
    const chain = new Chain(extract.transforms, columns);
    const encoder = extract.format.encoder(chain.columns, extract.formatOptions);
    this.#progress.columns = chain.columns;
    encoding(() => encoder.begin(this.#out));
    await this.#drain(rows, { chain, encoder });
    for (const held of chain.finish()) await this.#encode(held, encoder);
    encoding(() => encoder.end(this.#out));
    await this.#flush(true);
    for (const warning of [...(this.#merged?.warnings ?? []), ...encoder.replaced.warnings])
      this.#options.warn(warning);
    if (this.#merged === undefined) return this.#progress;
    this.#progress.manifest = await this.#merged.seal();
    return this.#finish(this.#merged);
  }

  async close(): Promise<void> {
    await this.#merged?.close();
  }

  async #drain(rows: RowSource, { chain, encoder }: { chain: Chain; encoder: Encoder }): Promise<void> {
    while (!chain.satisfied) {
      const before = rows.rows;
      const batch = await rows.next();
      if (batch === undefined) {
        this.#finish(rows);
        return;
      }
      for (const shaped of chain.apply(batch, before)) await this.#encode(shaped, encoder);
      this.#report();
    }
  }

  #report(): void {
    this.#progress.rowsRead = this.#source.rows;
    this.#options.onProgress(this.#progress);
  }

  #finish(rows: RowSource): StreamProgress {
    this.#progress.ending = rows.ending();
    return this.#progress;
  }

  async #encode(batch: Batch, encoder: Encoder): Promise<void> {
    this.#options.signal.throwIfAborted();
    encoding(() => encoder.batch(batch, this.#out));
    this.#progress.rows += batch.length;
    this.#options.onBatch?.(batch);
    await this.#flush(false);
  }

  async #flush(all: boolean): Promise<void> {
    const pieces = this.#out.take(all);
    if (pieces.length === 0) return;
    for (const piece of pieces) this.#progress.bytes += piece.length;
    await this.#options.sink.write(pieces, this.#recycle);
  }
}

function encoding(work: () => void): void {
  try {
    work();
  } catch (thrown) {
    throw toProblem(thrown, { code: 'ENCODER_THREW', family: 'bug' }).at({ stage: 'encode' });
  }
}
