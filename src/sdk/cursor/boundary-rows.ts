import { hash } from 'node:crypto';
import { type Batch, cellText, storedRow } from '../batch.ts';
import type { Column, ColumnType } from '../column.ts';
import type { RowsAgain } from '../extraction.ts';
import { type CursorBound, isBefore, type Lag, lagged, plainText, refuseCursorValue } from './cursor-value.ts';
import { type CursorWatermark, highestIn, type MissingRows } from './cursor-watermark.ts';

/** Maximum number of boundary rows to remember. The next run reads and sends the rows beyond the limit again. */
export const maxBoundaryRows = 10_000;

interface BoundaryRow {
  readonly value: CursorBound;
  readonly row: string;
}

interface BoundaryRowsOptions {
  readonly column: string;
  readonly lag: Lag | undefined;
  readonly before: CursorWatermark | undefined;
  /** Index of the column whose values are compared. */
  readonly at: number;
  readonly type: CursorBound['type'];
  /** The job's columns, which are the first ones in each batch. */
  readonly columns: readonly Column[];
  /**
   * Whether rows arrive in cursor order. If not, text can't be a cursor, and rows below the last run's watermark (minus
   * the lag) are dropped, because some APIs round the requested time.
   */
  readonly isSorted: boolean;
  /**
   * The watermark's highest value. If this is the time at which an unsorted read begins, the next run finds rows that
   * change during it, and a wrong value in the future doesn't hide the rows after it.
   */
  readonly max?: CursorBound | undefined;
  /** Columns that don't show whether a row has changed. */
  readonly ignored?: ReadonlySet<string>;
  /**
   * Columns whose values may differ from those of the last run although the row hasn't changed, because no record has
   * the column now, or because its type is another one.
   */
  readonly doubtful?: readonly string[];
  /** The types that columns had in the last run, by name, if they may have changed. */
  readonly formerTypes?: ReadonlyMap<string, ColumnType>;
}

/**
 * The boundary rows of an incremental read. Drops rows that the last run already sent and that haven't changed.
 * Remembers the rows that the next run will read again. If rows arrive in cursor order, only the first and last rows of
 * a batch are compared.
 */
export class BoundaryRows {
  readonly #reading: BoundaryRowsOptions;
  /** Rows that were sent and that this read may return again, each with an upper bound of the cursor for each copy. */
  readonly #expected = new Map<string, CursorBound[]>();
  /** Whether a sorted read has passed the rows that it may return again. */
  #isPast = false;
  /**
   * Current indexes of the last run's columns, in the last run's order. Rows of both runs are compared by these
   * columns.
   */
  readonly #common: readonly number[];
  readonly #all: readonly number[];
  /** Columns of the last run that no longer exist, so the last run's rows can't be compared. */
  readonly #gone: readonly string[];
  /** The last run's types of its columns, in the last run's order. */
  readonly #formerTypes: readonly (ColumnType | undefined)[];
  /** The doubtful columns that the last run's rows are compared by. */
  readonly #doubtful: readonly string[];
  /** Whether a row that the last run may have sent differs from all rows that it sent. */
  #hasUnlike = false;
  /** Whether this read returned rows that can't be compared and that the last run may already have sent. */
  #hasUncompared = false;
  #seen: BoundaryRow[] = [];
  /** Cursor value of the last row that wasn't remembered because the limit was exceeded. */
  #forgotten: CursorBound | undefined;
  #value: CursorBound | undefined;
  /** Where this read starts; undefined if it reads everything. */
  readonly #from: CursorBound | undefined;
  /** No row that the last run remembered has a higher cursor value. */
  readonly #highest: CursorBound | undefined;

  constructor(reading: BoundaryRowsOptions) {
    this.#reading = reading;
    const { column, lag, before } = reading;
    this.#from = before === undefined ? undefined : lagged(column, before.value, lag);
    this.#highest = before && highestIn(before);
    const { columns: former = [], seen = [] } = reading.before ?? {};
    const names = reading.columns.map(({ name }) => name);
    const isCompared = (i: number) => reading.ignored?.has(names[i]!) !== true;
    this.#all = names.keys().filter(isCompared).toArray();
    this.#gone = former.filter((name) => !names.includes(name));
    this.#common = former.map((name) => names.indexOf(name));
    this.#doubtful = former.filter((name) => reading.doubtful?.includes(name));
    this.#formerTypes = former.map((name) => reading.formerTypes?.get(name));
    if (this.#isIncomparable) return;
    for (const row of seen) this.#expect(row, { ...before!.value, text: before!.highest ?? before!.value.text });
    for (const { until, rows } of before?.missing ?? []) {
      for (const row of rows) this.#expect(row, { type: before!.value.type, text: until });
    }
  }

  #expect(row: string, until: CursorBound): void {
    const known = this.#expected.get(row);
    if (known === undefined) this.#expected.set(row, [until]);
    else known.push(until);
  }

  /** The batch's new rows. */
  fresh(batch: Batch): Batch {
    if (this.#reading.isSorted) this.#remember(batch);
    else this.#rememberUnsorted(batch);
    this.#noteUncompared(batch);
    const rows = new Int32Array(batch.length);
    let length = 0;
    for (let i = 0; i < batch.length; i++) {
      if (this.#isOld(batch, i) || this.#isExpected(batch, i)) continue;
      rows[length++] = storedRow(batch, i);
    }
    return length === batch.length ? batch : { ...batch, rows, length };
  }

  /** Whether the row is below the values that were requested. A sorted read returns no such rows. */
  #isOld(batch: Batch, i: number): boolean {
    return !this.#reading.isSorted && this.#from !== undefined && isBefore(this.#valueOf(batch, i), this.#from);
  }

  #isExpected(batch: Batch, i: number): boolean {
    if (this.#expected.size === 0 || this.#isPast) return false;
    const { isSorted, type } = this.#reading;
    const isAfter = type !== 'text' && isBefore(this.#highest!, this.#valueOf(batch, i));
    if (!isSorted && isAfter) return false;
    const row = rowOf(batch, i, { columns: this.#common, types: this.#formerTypes });
    const left = this.#expected.get(row);
    if (left === undefined) {
      this.#hasUnlike = true;
      // In a sorted read, no row after it can be from the last run.
      if (isSorted && isAfter) this.#isPast = true;
      return false;
    }
    left.shift();
    if (left.length === 0) this.#expected.delete(row);
    return true;
  }

  /** Remembers the last rows of the batch, because the next run will read them again. */
  #remember(batch: Batch): void {
    const { column, lag } = this.#reading;
    const value = this.#valueOf(batch, batch.length - 1);
    refuseCursorValue(column, value);
    this.#value = value;
    const from = lagged(column, value, lag);
    const added: BoundaryRow[] = [];
    let i = batch.length - 1;
    for (; i >= 0 && added.length < maxBoundaryRows; i--) {
      const cursor = this.#valueOf(batch, i);
      if (isBefore(cursor, from)) break;
      added.push({ value: cursor, row: rowOf(batch, i, { columns: this.#all }) });
    }
    const kept = added.length < batch.length ? [] : this.#seen.filter((old) => !isBefore(old.value, from));
    const all = [...kept, ...added.reverse()];
    if (added.length === maxBoundaryRows && i >= 0) this.#forgotten = this.#valueOf(batch, i);
    else if (all.length > maxBoundaryRows) this.#forgotten = all.at(-maxBoundaryRows - 1)!.value;
    this.#seen = all.slice(-maxBoundaryRows);
    if (this.#forgotten !== undefined && isBefore(this.#forgotten, from)) this.#forgotten = undefined;
  }

  /** Like {@link #remember}, for rows in any order: compares every row. */
  #rememberUnsorted(batch: Batch): void {
    const { column, lag } = this.#reading;
    const values = Array.from({ length: batch.length }, (_, i) => this.#valueOf(batch, i));
    for (const value of values) {
      refuseCursorValue(column, value);
      if (this.#value === undefined || isBefore(this.#value, value)) this.#value = value;
    }
    const from = lagged(column, this.#upTo(this.#value!), lag);
    for (const [i, value] of values.entries()) {
      if (!isBefore(value, from)) this.#seen.push({ value, row: rowOf(batch, i, { columns: this.#all }) });
    }
    if (this.#seen.length > 2 * maxBoundaryRows) this.#forgetLowest();
  }

  /** Keeps only the rows within the lag and, of these, only the highest ones. */
  #forgetLowest(): void {
    const { column, lag, isSorted } = this.#reading;
    if (isSorted || this.#value === undefined) return;
    const from = lagged(column, this.#upTo(this.#value), lag);
    const all = this.#seen.filter(({ value }) => !isBefore(value, from)).sort((a, b) => order(a.value, b.value));
    const forgotten = all.at(-maxBoundaryRows - 1)?.value ?? this.#forgotten;
    if (this.#forgotten === undefined || isBefore(this.#forgotten, forgotten!)) this.#forgotten = forgotten;
    this.#seen = all.slice(-maxBoundaryRows);
    if (this.#forgotten !== undefined && isBefore(this.#forgotten, from)) this.#forgotten = undefined;
  }

  /** Whether the rows that the last run remembered have missing or unknown columns. */
  get #isIncomparable(): boolean {
    const { columns = [], seen = [] } = this.#reading.before ?? {};
    return seen.length > 0 && (columns.length === 0 || this.#gone.length > 0);
  }

  /**
   * If rows are sorted, it's sufficient to check the first row. Text is sorted by the database's collation, so any row
   * with a text cursor may be from the last run.
   */
  #noteUncompared(batch: Batch): void {
    if (this.#hasUncompared || !this.#isIncomparable) return;
    const { type, isSorted } = this.#reading;
    const isAfter = (i: number) => type !== 'text' && isBefore(this.#highest!, this.#valueOf(batch, i));
    for (let i = 0; i < (isSorted ? 1 : batch.length) && !this.#hasUncompared; i++) {
      this.#hasUncompared = !this.#isOld(batch, i) && !isAfter(i);
    }
  }

  /**
   * Why rows may be duplicated: either the next run repeats the rows beyond the limit, or this run's rows can't be
   * compared.
   */
  get comesAgain(): RowsAgain | undefined {
    this.#forgetLowest();
    if (this.#hasUncompared) return { why: 'columns_gone', columns: this.#gone };
    // A row that the last run sent is missing, and another one has come: it may be the same row, without the column.
    const mayBeSame = this.#hasUnlike && this.#expected.size > 0 && this.#doubtful.length > 0;
    if (mayBeSame) return { why: 'columns_gone', columns: this.#doubtful };
    return this.#forgotten === undefined ? undefined : { why: 'too_many' };
  }

  /** The watermark's value if this is the highest value. */
  #upTo(value: CursorBound): CursorBound {
    const { max } = this.#reading;
    return max !== undefined && isBefore(max, value) ? max : value;
  }

  #valueOf(batch: Batch, i: number): CursorBound {
    const { at, type } = this.#reading;
    return { type, text: cellText(batch.cells[at]!, batch.columns[at]!.type, storedRow(batch, i))! };
  }

  /** The new watermark, or the previous one if there are no rows. */
  watermark(): CursorWatermark | undefined {
    const { before, column, columns, type } = this.#reading;
    if (this.#value === undefined) return before;
    this.#forgetLowest();
    // The latest rows may have been deleted since the last run, but the watermark never moves back.
    const upTo = this.#upTo(this.#value);
    const isBack = before !== undefined && type !== 'text' && isBefore(upTo, before.value);
    const value = isBack ? before.value : upTo;
    const names = this.#all.map((i) => columns[i]!.name);
    const missing = this.#missing(value, names);
    const rows = { columns: names, seen: this.#seen.map(({ row }) => row) };
    const highest = type !== 'text' && isBefore(value, this.#value) ? { highest: this.#value.text } : {};
    return { column, value, ...rows, ...highest, ...(missing.length === 0 ? {} : { missing }) };
  }

  /**
   * The rows that were sent, that weren't returned this time and that the next run may read, because a response may lack
   * a row that the next one has again. Rows with other columns can't be compared.
   */
  #missing(value: CursorBound, names: readonly string[]): MissingRows[] {
    const { before, column, lag } = this.#reading;
    if (this.#expected.size === 0 || before!.columns.join('\n') !== names.join('\n')) return [];
    const from = lagged(column, value, lag);
    const left = [...this.#expected].flatMap(([row, bounds]) =>
      bounds.map((until): BoundaryRow => ({ value: until, row })),
    );
    const within = left.filter((one) => !isBefore(one.value, from)).sort((a, b) => order(b.value, a.value));
    const groups = Map.groupBy(within.slice(0, maxBoundaryRows), (one) => one.value.text);
    return [...groups].map(([until, rows]) => ({ until, rows: rows.map(({ row }) => row) }));
  }
}

function order(a: CursorBound, b: CursorBound): number {
  if (isBefore(a, b)) return -1;
  return isBefore(b, a) ? 1 : 0;
}

interface HashedColumns {
  /** Indexes of the columns. */
  readonly columns: readonly number[];
  /** The columns' types when the hash that it's compared with was made. Default: the columns' own. */
  readonly types?: readonly (ColumnType | undefined)[];
}

/**
 * Hash of a row's cells in these columns, in this order. All columns are hashed, because a row may change twice at the
 * same instant. Cells are hashed by value, so the hashes don't change if a column gets more decimal places or more
 * digits of a second.
 */
function rowOf(batch: Batch, i: number, { columns, types = [] }: HashedColumns): string {
  const stored = storedRow(batch, i);
  const texts = columns.map((c, n) => {
    const { type } = batch.columns[c]!;
    const text = cellText(batch.cells[c]!, type, stored);
    if (text === null) return null;
    const plain = plainText(text, type);
    const former = types[n];
    return former === undefined ? plain : plainText(plain, former);
  });
  return hash('sha256', JSON.stringify(texts), 'base64').slice(0, 22);
}
