import { rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Extract } from '../config/config.ts';
import type { Encoder } from '../formats/format.ts';
import { Output } from '../formats/output.ts';
import type { Clock } from '../lib/clock.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { toProblem } from '../lib/problem.ts';
import type { Room } from '../lib/room.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { ConnectorLog } from '../sdk/connector.ts';
import type { Login } from '../sdk/oauth.ts';
import type { Manifest } from '../sets/manifest.ts';
import { Chain } from './chain.ts';
import { FoldedSource, type Keeping, type Rows } from './folded-source.ts';
import { ownedPrefix } from './living.ts';
import { type Ending, Source } from './source.ts';
import { spoolProblem } from './spool-problem.ts';

/** Where encoded bytes go. */
export interface Sink {
  /** Takes the pieces; each is handed to `recycle` when its memory may be used again. Await the promise, if any. */
  write(pieces: readonly Buffer[], recycle: (piece: Buffer) => void): Promise<void> | undefined;
}

export interface CarryGiven {
  readonly extract: Extract;
  /** Folder of the config file. */
  readonly folder: string;
  /** The folder in which the connector's scratch folder is made. */
  readonly spool: string;
  /** Id of the run. */
  readonly run: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: ConnectorLog;
  /** Takes what the source warns of. */
  readonly warn: (warning: RunWarning) => void;
  /** Tokens, for a source that logs in by OAuth. */
  readonly login?: Login;
  readonly sink: Sink;
  /** What may be written beside it; absent: anything. */
  readonly room?: Room;
  /** Where the last run had got to. */
  readonly watermark?: string;
  /** For a job that keeps its rows. */
  readonly keeping?: Keeping;
  /** When the run began, epoch milliseconds; now, where nothing is said. */
  readonly asOf?: number;
  /** After every batch. */
  readonly onProgress: (carried: Carried) => void;
  /** Every batch as it is encoded. */
  readonly onBatch?: (batch: Batch) => void;
}

/** What has been carried so far; the same object from beginning to end. */
export interface Carried {
  columns: readonly Column[];
  /** Rows that the source gave. */
  rowsRead: number;
  /** Rows that were encoded. */
  rows: number;
  bytes: number;
  /** How the source ended; absent while it has rows, and where not all of them were wanted. */
  ending?: Ending;
  /** What the data set is now, for a job that keeps its rows. */
  manifest?: Manifest;
}

/** Extract, transform, encode, from the source's first row to the last byte handed to the sink. */
export async function carry(given: CarryGiven): Promise<Carried> {
  given.signal.throwIfAborted();
  const scratch = await makeScratch(given);
  const source = new Source({ ...given, scratch });
  const carrier = new Carrier(given, { source, scratch });
  try {
    return await carrier.run();
  } finally {
    await carrier.close();
    await source.close().finally(() => clearScratch(scratch));
  }
}

/** Few sources leave anything in it. */
async function clearScratch(scratch: string): Promise<void> {
  try {
    rmdirSync(scratch);
  } catch {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function makeScratch({ spool, run }: CarryGiven): Promise<string> {
  const scratch = join(spool, `${ownedPrefix()}${run}.scratch`);
  try {
    makeFolder(scratch, 0o700);
    return scratch;
  } catch (error) {
    throw spoolProblem(error, spool);
  }
}

class Carrier {
  readonly #given: CarryGiven;
  readonly #source: Source;
  readonly #folded: FoldedSource | undefined;
  readonly #out = new Output();
  readonly #recycle = (piece: Buffer) => this.#out.recycle(piece);
  readonly #carried: Carried = { columns: [], rowsRead: 0, rows: 0, bytes: 0 };

  constructor(given: CarryGiven, { source, scratch }: { source: Source; scratch: string }) {
    this.#given = given;
    this.#source = source;
    const { extract, keeping, clock, asOf = clock.now(), room } = given;
    const { write: rule, timezone: zone = 'UTC' } = extract;
    if (keeping === undefined || rule === undefined) return;
    this.#folded = new FoldedSource(source, { ...keeping, rule, scratch, asOf, zone, room }, () => this.#report());
  }

  async run(): Promise<Carried> {
    const { extract } = this.#given;
    const rows = this.#folded ?? this.#source;
    const columns = await rows.open();
    if (this.#folded?.isIdle === true) return this.#ended(rows);
    const chain = new Chain(extract.transforms, columns);
    const encoder = extract.format.encoder(chain.columns, extract.formatOptions);
    this.#carried.columns = chain.columns;
    encoding(() => encoder.begin(this.#out));
    await this.#drain(rows, { chain, encoder });
    for (const held of chain.finish()) await this.#encode(held, encoder);
    encoding(() => encoder.end(this.#out));
    await this.#handOn(true);
    for (const warning of [this.#folded?.replaced, encoder.replaced.warning])
      if (warning !== undefined) this.#given.warn(warning);
    if (this.#folded === undefined) return this.#carried;
    this.#carried.manifest = await this.#folded.seal();
    return this.#ended(this.#folded);
  }

  async close(): Promise<void> {
    await this.#folded?.close();
  }

  async #drain(rows: Rows, { chain, encoder }: { chain: Chain; encoder: Encoder }): Promise<void> {
    while (!chain.satisfied) {
      const before = rows.rows;
      const batch = await rows.next();
      if (batch === undefined) {
        this.#ended(rows);
        return;
      }
      const shaped = chain.apply(batch, before);
      if (shaped !== null) await this.#encode(shaped, encoder);
      this.#report();
    }
  }

  #report(): void {
    this.#carried.rowsRead = this.#source.rows;
    this.#given.onProgress(this.#carried);
  }

  #ended(rows: Rows): Carried {
    this.#carried.ending = rows.ending();
    return this.#carried;
  }

  async #encode(batch: Batch, encoder: Encoder): Promise<void> {
    this.#given.signal.throwIfAborted();
    encoding(() => encoder.batch(batch, this.#out));
    this.#carried.rows += batch.length;
    this.#given.onBatch?.(batch);
    await this.#handOn(false);
  }

  async #handOn(all: boolean): Promise<void> {
    const pieces = this.#out.take(all);
    if (pieces.length === 0) return;
    for (const piece of pieces) this.#carried.bytes += piece.length;
    await this.#given.sink.write(pieces, this.#recycle);
  }
}

function encoding(work: () => void): void {
  try {
    work();
  } catch (thrown) {
    throw toProblem(thrown, { code: 'ENCODER_THREW', family: 'bug' }).at({ stage: 'encode' });
  }
}
