import { setTimeout as wait } from 'node:timers/promises';
import {
  type Batch,
  type Column,
  type CursorBound,
  cellText,
  cutText,
  type Extraction,
  exponentialMs,
  Problem,
  storedRow,
} from '#sdk';
import { type Dialect, type RunQuery, rangeQuery } from './dialect.ts';
import type { ConnectOptions } from './driver.ts';
import type { ChunkOptions, SqlQuery } from './options.ts';
import { columnAt, nullInOrder } from './ordered.ts';

/** How many times to reconnect without receiving a new row before the read fails. The delays grow exponentially. */
const maxTries = 6;
const firstPauseMs = 250;
const maxPauseMs = 8000;

export interface ChunkedOptions {
  readonly query: SqlQuery & { readonly chunks: ChunkOptions };
  readonly dialect: Dialect;
  readonly options: Pick<ConnectOptions, 'signal' | 'log' | 'warn'>;
  /** Resets the runner's stall timer while no rows are arriving. */
  readonly alive: () => void;
  readonly ask: RunQuery;
}

/**
 * Keyset pagination: reads a query in chunks, ordered by a column with unique values. Each chunk is a separate
 * statement in its own transaction, so chunks may see different snapshots. If the connection is lost, the read
 * reconnects and continues after the last row; the reader doesn't notice.
 */
export async function extractChunks(given: ChunkedOptions): Promise<Extraction> {
  const chunks = new Chunks(given);
  const columns = await chunks.open();
  return { columns, batches: chunks.batches() };
}

/** Only values of these types are sorted in the same way by every database, regardless of its settings. */
const types = ['integer', 'decimal', 'uuid', 'date', 'timestamp', 'timestamptz', 'text', 'binary'];
const mendNulls = 'use a column without nulls; the primary key is best';

class Chunks {
  readonly #given: ChunkedOptions;
  #first: Extraction | undefined;
  #columns: readonly Column[] = [];
  /** Index of the column that determines the order of the chunks. */
  #at = 0;
  #last: CursorBound | undefined;
  /** Number of rows returned so far. */
  #rows = 0;

  constructor(given: ChunkedOptions) {
    this.#given = given;
  }

  async open(): Promise<readonly Column[]> {
    const { column } = this.#given.query.chunks;
    await this.#refuseNulls();
    const first = await this.#ask();
    this.#at = columnAt(first.columns, column, 'chunks');
    const { type } = first.columns[this.#at]!;
    if (!types.includes(type)) throw noOrder(column, type);
    this.#first = first;
    this.#columns = first.columns;
    return first.columns;
  }

  /** Chunks exclude rows whose ordering column is null, so the read first checks that there are no such rows. */
  async #refuseNulls(): Promise<void> {
    const { query, dialect, ask } = this.#given;
    const { column } = query.chunks;
    const { batches } = await ask(rangeQuery(query, { column, nulls: 'only', rows: 1 }, dialect));
    for await (const batch of batches) if (batch.length > 0) throw nullInOrder(column, { next: mendNulls });
  }

  async *batches(): AsyncGenerator<Batch, void, void> {
    const { query, alive } = this.#given;
    for (let tries = 0; ; ) {
      const before = this.#rows;
      try {
        const chunk = this.#first ?? (await this.#ask());
        this.#first = undefined;
        const came = yield* this.#read(chunk);
        if (came < query.chunks.rows) return;
        tries = 0;
      } catch (thrown) {
        tries = this.#rows > before ? 1 : tries + 1;
        await this.#recover(thrown, tries);
      }
      alive();
    }
  }

  /**
   * Each chunk starts with the previous chunk's last row, so that the read can check that the column's values are
   * unique.
   */
  #ask(): Promise<Extraction> {
    const { query, dialect, ask } = this.#given;
    const { column, rows } = query.chunks;
    const last = this.#last;
    const range = last === undefined ? { rows } : { rows: rows + 1, from: last };
    return ask(rangeQuery(query, { column, nulls: 'leave_out', ...range }, dialect));
  }

  /** Yields the rows of a chunk, then returns the number of new rows. */
  async *#read(chunk: Extraction): AsyncGenerator<Batch, number, void> {
    this.#refuseOtherColumns(chunk.columns);
    let came = 0;
    let again = this.#last;
    for await (const batch of chunk.batches) {
      if (batch.length === 0) continue;
      if (again !== undefined && this.#text(batch, 0) !== again.text) this.#warnOfGoneRow(again);
      const from = again !== undefined && this.#text(batch, 0) === again.text ? 1 : 0;
      this.#advance(batch, from);
      again = undefined;
      came += batch.length - from;
      this.#rows += batch.length - from;
      if (batch.length > from) yield this.#shown(batch, from);
    }
    if (again !== undefined) throw rowsGone(this.#given.query.chunks.column, again);
    return came;
  }

  #shown(batch: Batch, from: number): Batch {
    const length = batch.length - from;
    if (from === 0) return { ...batch, columns: this.#columns };
    const rows = Int32Array.from({ length }, (_, i) => storedRow(batch, i + from));
    return { columns: this.#columns, cells: batch.cells, rows, length };
  }

  #text(batch: Batch, i: number): string {
    return cellText(batch.cells[this.#at]!, this.#columns[this.#at]!.type, storedRow(batch, i))!;
  }

  /** If two rows had the same value, a chunk boundary between them could lose the second row. */
  #advance(batch: Batch, from: number): void {
    let before = this.#last?.text;
    for (let i = from; i < batch.length; i++) {
      const text = this.#text(batch, i);
      if (text === before) throw notUnique(this.#given.query.chunks.column, text);
      before = text;
    }
    if (before !== undefined) this.#last = { type: this.#columns[this.#at]!.type, text: before };
  }

  /** The previous chunk's last row was deleted or changed, so other rows may have been deleted or changed, too. */
  #warnOfGoneRow({ text }: CursorBound): void {
    this.#given.options.warn?.({
      code: 'DB_ROW_GONE',
      message: 'the last row of a chunk was deleted before the next chunk was read',
      seen: `${this.#given.query.chunks.column}: ${cutText(text, 80)}`,
      next: 'if rows may be deleted during a read, remove the chunks option, so that all rows come from one snapshot',
      incomplete: true,
    });
  }

  /** The table was altered during the read, so the result's columns have changed. */
  #refuseOtherColumns(columns: readonly Column[]): void {
    const isSame =
      columns.length === this.#columns.length &&
      this.#columns.every(({ name, type }, c) => columns[c]?.name === name && columns[c].type === type);
    if (!isSame) throw columnsChanged();
  }

  async #recover(thrown: unknown, tries: number): Promise<void> {
    const { signal, log } = this.#given.options;
    signal.throwIfAborted();
    const isPassing = thrown instanceof Problem && thrown.family === 'try_later' && !isForNewRun(thrown);
    if (!isPassing || tries >= maxTries) throw thrown;
    const pauseMs = exponentialMs(tries, { firstMs: firstPauseMs, maxMs: maxPauseMs });
    log.warn('The connection was lost; reading resumes after the last row', {
      rows: this.#rows,
      because: thrown.message,
      pause_ms: pauseMs,
    });
    await wait(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Only a new run can fix this error; reading the chunk again can't. */
const isForNewRun = ({ code }: Problem) => code === 'DB_COLUMNS_CHANGED' || code === 'DB_ROWS_GONE';

function columnsChanged(): Problem {
  return new Problem({
    code: 'DB_COLUMNS_CHANGED',
    family: 'try_later',
    message: 'the columns of the result changed between two chunks',
    next: 'run the job again: the next run reads all rows with the new columns',
  });
}

/** The last row and all rows after it are gone, so this may not be the real end of the table. */
function rowsGone(column: string, { text }: CursorBound): Problem {
  return new Problem({
    code: 'DB_ROWS_GONE',
    family: 'try_later',
    message: 'rows disappeared between two chunks: the last row read and all rows after it are gone',
    where: { column },
    seen: cutText(text, 80),
    next: 'run the job again; check whether the table was emptied, or whether a different server with fewer rows responded',
  });
}

function noOrder(column: string, type: string): Problem {
  return new Problem({
    code: 'DB_CHUNK_TYPE',
    family: 'job',
    message: `column ${JSON.stringify(column)} cannot be used for chunks: its type is ${type}`,
    where: { column },
    allowed: types.join(', '),
    next: 'use the primary key',
  });
}

function notUnique(column: string, value: string): Problem {
  return new Problem({
    code: 'DB_CHUNK_NOT_UNIQUE',
    family: 'job',
    message: `column ${JSON.stringify(column)} cannot be used for chunks: two rows have the same value`,
    where: { column },
    seen: cutText(value, 80),
    next: 'use a column with unique values, ideally the primary key',
  });
}
