import { hash } from 'node:crypto';
import { type Batch, cellText, storedRow } from '#sdk';
import { isBefore, type Lag, lagged, refuseCursorValue } from './cursor-value.ts';
import type { Bound } from './dialect.ts';
import type { Watermark } from './watermark.ts';

/** So many rows are told again; of more that share the edge, the first ones come once more with each run. */
export const mostSeen = 10_000;

interface Seen {
  readonly value: Bound;
  readonly row: string;
}

interface Reading {
  readonly column: string;
  readonly lag: Lag | undefined;
  readonly before: Watermark | undefined;
  /** Index of the column whose text decides. */
  readonly at: number;
  readonly type: Bound['type'];
  /** How many columns the rows have that anybody is to see. */
  readonly width: number;
}

/**
 * The edge of what is read: drops rows that came before exactly as they are now, and remembers those that the next run will
 * meet again. Rows come in the order of the cursor, so both only look at the ends of what comes.
 */
export class Edge {
  readonly #reading: Reading;
  /** Rows of the last run that may come again, and how often. */
  readonly #expected = new Map<string, number>();
  #seen: Seen[] = [];
  /** Value of the last row that there was no room to remember. */
  #forgotten: Bound | undefined;
  #value: Bound | undefined;

  constructor(reading: Reading) {
    this.#reading = reading;
    for (const row of reading.before?.seen ?? []) this.#expected.set(row, (this.#expected.get(row) ?? 0) + 1);
  }

  /** The rows of the batch that are new. */
  fresh(batch: Batch): Batch {
    this.#remember(batch);
    const rows = new Int32Array(batch.length);
    let length = 0;
    for (let i = 0; i < batch.length; i++) {
      if (this.#isExpected(batch, i)) continue;
      rows[length++] = storedRow(batch, i);
    }
    return length === batch.length ? batch : { ...batch, rows, length };
  }

  #isExpected(batch: Batch, i: number): boolean {
    if (this.#expected.size === 0) return false;
    const row = this.#rowOf(batch, i);
    const left = this.#expected.get(row);
    if (left === undefined) {
      this.#leaveBehind(this.#valueOf(batch, i));
      return false;
    }
    if (left === 1) this.#expected.delete(row);
    else this.#expected.set(row, left - 1);
    return true;
  }

  /** Behind the last run's edge nothing is expected any more. */
  #leaveBehind(value: Bound): void {
    const { before, type } = this.#reading;
    if (type !== 'text' && isBefore(before!.value, value)) this.#expected.clear();
  }

  /** Notes the rows at the end of the batch that the next run will be given again. */
  #remember(batch: Batch): void {
    const { column, lag } = this.#reading;
    const value = this.#valueOf(batch, batch.length - 1);
    refuseCursorValue(column, value);
    this.#value = value;
    const from = lagged(column, value, lag);
    const added: Seen[] = [];
    let i = batch.length - 1;
    for (; i >= 0 && added.length < mostSeen; i--) {
      const cursor = this.#valueOf(batch, i);
      if (isBefore(cursor, from)) break;
      added.push({ value: cursor, row: this.#rowOf(batch, i) });
    }
    const kept = added.length < batch.length ? [] : this.#seen.filter((old) => !isBefore(old.value, from));
    const all = [...kept, ...added.reverse()];
    if (added.length === mostSeen && i >= 0) this.#forgotten = this.#valueOf(batch, i);
    else if (all.length > mostSeen) this.#forgotten = all.at(-mostSeen - 1)!.value;
    this.#seen = all.slice(-mostSeen);
    if (this.#forgotten !== undefined && isBefore(this.#forgotten, from)) this.#forgotten = undefined;
  }

  /** Whether the next run meets rows that are not remembered. */
  get isOverfull(): boolean {
    return this.#forgotten !== undefined;
  }

  #valueOf(batch: Batch, i: number): Bound {
    const { at, type } = this.#reading;
    return { type, text: cellText(batch.cells[at]!, batch.columns[at]!.type, storedRow(batch, i))! };
  }

  /** The whole row counts: one that was changed twice at the same instant is another one. */
  #rowOf(batch: Batch, i: number): string {
    const stored = storedRow(batch, i);
    const cells = batch.cells.slice(0, this.#reading.width);
    const texts = cells.map((cell, c) => cellText(cell, batch.columns[c]!.type, stored));
    return hash('sha256', JSON.stringify(texts), 'base64').slice(0, 22);
  }

  /** The watermark that all this comes to; the one before where no row came. */
  watermark(): Watermark | undefined {
    const { before, column, type } = this.#reading;
    if (this.#value === undefined) return before;
    // Rows may have been taken away since: what is read never goes back.
    const isBack = before !== undefined && type !== 'text' && isBefore(this.#value, before.value);
    return { column, value: isBack ? before.value : this.#value, seen: this.#seen.map(({ row }) => row) };
  }
}
