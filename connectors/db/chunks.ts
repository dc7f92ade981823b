import { setTimeout as wait } from 'node:timers/promises';
import {
  type Batch,
  type Column,
  type CursorBound,
  cellText,
  cutText,
  type ExtractContext,
  type Extraction,
  exponentialMs,
  Problem,
  rangeBound,
  storedRow,
} from '#sdk';
import { type Dialect, type RunQuery, rangeQuery } from './dialect.ts';
import type { ChunkOptions, query as queryOptions, SqlQuery, source as sourceOptions } from './options.ts';
import { columnAt, nullInOrder } from './ordered.ts';

/** How many times to reconnect without receiving a new row before the read fails. The delays grow exponentially. */
const maxTries = 6;
const firstPauseMs = 250;
const maxPauseMs = 8000;

export interface ChunkedOptions {
  readonly query: SqlQuery;
  readonly chunks: ChunkOptions & { readonly columns: KeyColumns };
  readonly dialect: Dialect;
  readonly options: Pick<
    ExtractContext<typeof sourceOptions, typeof queryOptions>,
    'signal' | 'log' | 'warn' | 'alive' | 'timezone'
  >;
  readonly ask: RunQuery;
}

type KeyColumns = readonly [string, ...string[]];

/** The columns that the option names; undefined if it names none. */
export function columnsOf({ column }: ChunkOptions): KeyColumns | undefined {
  return typeof column === 'string' ? [column] : column;
}

/**
 * Keyset pagination: reads a query in chunks, ordered by columns whose values are unique together. Each chunk is a
 * separate statement in its own transaction, so chunks may see different snapshots. If the connection is lost, the read
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
  /** The columns that determine the order of the chunks. */
  #key: readonly KeyColumn[] = [];
  /** The bounds of the first of them. */
  #range: { readonly from?: CursorBound | undefined; readonly to?: CursorBound | undefined } = {};
  /** The last row's values in these columns. */
  #last: readonly string[] | undefined;
  /** Number of rows returned so far. */
  #rows = 0;

  constructor(given: ChunkedOptions) {
    this.#given = given;
  }

  async open(): Promise<readonly Column[]> {
    const before = this.#keyIn(await this.#refuseNulls());
    this.#range = this.#bounds(before[0]!);
    this.#first = await this.#ask();
    this.#columns = this.#first.columns;
    this.#key = this.#keyIn(this.#columns);
    return this.#columns;
  }

  /**
   * Chunks exclude rows in which an ordering column is null, so the read first checks that there are no such rows.
   * Returns the columns of the result.
   */
  async #refuseNulls(): Promise<readonly Column[]> {
    const { query, chunks, dialect, ask } = this.#given;
    const range = { columns: chunks.columns, nulls: 'only', rows: 1 } as const;
    const { columns, batches } = await ask(rangeQuery(query, range, dialect));
    for await (const batch of batches) {
      if (batch.length > 0) throw nullInOrder(chunks.columns.join(', '), { next: mendNulls });
    }
    return columns;
  }

  #keyIn(columns: readonly Column[]): KeyColumn[] {
    return this.#given.chunks.columns.map((name) => keyColumn(columns, name, this.#given.dialect));
  }

  /** The range that the options ask for. */
  #bounds({ name, type }: KeyColumn) {
    const { from, to } = this.#given.chunks;
    const { timezone = 'UTC' } = this.#given.options;
    const bound = (value: string | number | undefined) =>
      value === undefined
        ? undefined
        : rangeBound(String(value), { column: name, type, timezone, next: 'fix from and to in chunks' });
    return { from: bound(from), to: bound(to) };
  }

  async *batches(): AsyncGenerator<Batch, void, void> {
    const { chunks, options } = this.#given;
    for (let tries = 0; ; ) {
      const before = this.#rows;
      try {
        const chunk = this.#first ?? (await this.#ask());
        this.#first = undefined;
        const came = yield* this.#read(chunk);
        if (came < chunks.rows) return;
        tries = 0;
      } catch (thrown) {
        tries = this.#rows > before ? 1 : tries + 1;
        await this.#recover(thrown, tries);
      }
      options.alive?.();
    }
  }

  /** Each chunk starts with the previous chunk's last row, so that the read can check that the values are unique. */
  #ask(): Promise<Extraction> {
    const { query, chunks, dialect, ask } = this.#given;
    const { from, to } = this.#range;
    const last = this.#last?.map((text, c): CursorBound => ({ type: this.#key[c]!.type, text }));
    const range = {
      columns: chunks.columns,
      from: last ?? (from === undefined ? undefined : [from]),
      to,
      nulls: 'leave_out',
      rows: last === undefined ? chunks.rows : chunks.rows + 1,
    } as const;
    return ask(rangeQuery(query, range, dialect));
  }

  /** Yields the rows of a chunk, then returns the number of new rows. */
  async *#read(chunk: Extraction): AsyncGenerator<Batch, number, void> {
    this.#refuseOtherColumns(chunk.columns);
    let came = 0;
    let again = this.#last;
    for await (const batch of chunk.batches) {
      if (batch.length === 0) continue;
      const isAgain = again !== undefined && isSame(this.#texts(batch, 0), again);
      if (again !== undefined && !isAgain) this.#warnOfGoneRow(again);
      const from = isAgain ? 1 : 0;
      this.#advance(batch, from);
      again = undefined;
      came += batch.length - from;
      this.#rows += batch.length - from;
      if (batch.length > from) yield this.#shown(batch, from);
    }
    if (again !== undefined) throw rowsGone(this.#names, again);
    return came;
  }

  #shown(batch: Batch, from: number): Batch {
    const length = batch.length - from;
    if (from === 0) return { ...batch, columns: this.#columns };
    const rows = Int32Array.from({ length }, (_, i) => storedRow(batch, i + from));
    return { columns: this.#columns, cells: batch.cells, rows, length };
  }

  /** The row's values in the ordering columns. */
  #texts(batch: Batch, i: number): string[] {
    const stored = storedRow(batch, i);
    return this.#key.map(({ at, type }) => cellText(batch.cells[at]!, type, stored)!);
  }

  /** If two rows had the same values, a chunk boundary between them could lose the second row. */
  #advance(batch: Batch, from: number): void {
    for (let i = from; i < batch.length; i++) {
      const texts = this.#texts(batch, i);
      if (this.#last !== undefined && isSame(texts, this.#last)) throw notUnique(this.#names, texts);
      this.#last = texts;
    }
  }

  get #names(): string {
    return this.#given.chunks.columns.join(', ');
  }

  /** The previous chunk's last row was deleted or changed, so other rows may have been deleted or changed, too. */
  #warnOfGoneRow(values: readonly string[]): void {
    this.#given.options.warn?.({
      code: 'DB_ROW_GONE',
      message: 'the last row of a chunk was deleted before the next chunk was read',
      seen: `${this.#names}: ${valuesText(values)}`,
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

/** A column that determines the order of the chunks. */
interface KeyColumn extends Column {
  /** Its index in the result. */
  readonly at: number;
}

function keyColumn(columns: readonly Column[], name: string, dialect: Dialect): KeyColumn {
  const at = columnAt(columns, name, { option: 'chunks', dialect });
  const { type } = columns[at]!;
  if (!types.includes(type)) throw noOrder(name, type);
  return { name, type, at };
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.every((text, c) => text === others[c]);
}

const valuesText = (values: readonly string[]) => cutText(values.join(', '), 80);

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
function rowsGone(column: string, values: readonly string[]): Problem {
  return new Problem({
    code: 'DB_ROWS_GONE',
    family: 'try_later',
    message: 'rows disappeared between two chunks: the last row read and all rows after it are gone',
    where: { column },
    seen: valuesText(values),
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

function notUnique(column: string, values: readonly string[]): Problem {
  return new Problem({
    code: 'DB_CHUNK_NOT_UNIQUE',
    family: 'job',
    message: `column ${JSON.stringify(column)} cannot be used for chunks: two rows have the same value`,
    where: { column },
    seen: valuesText(values),
    next: 'use the primary key, or add columns until their values are unique together',
  });
}
