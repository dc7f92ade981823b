import { Problem } from '../lib/problem.ts';
import type { Batch, ByteCells, Value, ValueCells } from '../sdk/batch.ts';
import { valueText } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';

/** Says whether a text can stand in this column; absent where any text can. */
export type TextCheck = (text: string) => boolean;

/** Longer ASCII strings, and all others, are cheaper to write with one native call than by character codes. */
const longestByCode = 48;
const firstBytes = 64 * 1024;

/**
 * Turns a column of values into byte cells, so that one loop writes both kinds and both come out the same. The memory is
 * kept for the next batch. One column of one encoder.
 */
export class Staging {
  readonly #column: Column;
  readonly #check: TextCheck | undefined;
  #bytes: Buffer = Buffer.allocUnsafeSlow(0);
  #spans = new Int32Array(0);

  constructor(column: Column, check: TextCheck | undefined) {
    this.#column = column;
    this.#check = check;
  }

  /**
   * The cells of the visible rows as canonical text in UTF-8, numbered like the visible rows. Lone surrogates become
   * U+FFFD. Valid until the next call. Throws `FORMAT_VALUE` (with the row within the batch) when the check fails.
   */
  stage(batch: Batch, cells: ValueCells): ByteCells {
    if (this.#spans.length < batch.length * 2) this.#spans = new Int32Array(batch.length * 2);
    const { rows } = batch;
    let at = 0;
    for (let i = 0; i < batch.length; i++) {
      const value = cells.values[rows === undefined ? i : rows[i]!] ?? null;
      const text = typeof value === 'string' ? value : valueText(value, this.#column.type);
      if (text !== null && this.#check !== undefined && !this.#check(text)) throw this.#refused(value, i);
      this.#spans[2 * i] = text === null ? -1 : at;
      if (text !== null) at = this.#write(text, at);
      this.#spans[2 * i + 1] = at;
    }
    return { kind: 'bytes', bytes: this.#bytes, spans: this.#spans, stride: 1, slot: 0 };
  }

  #write(text: string, at: number): number {
    const { length } = text;
    if (at + length * 3 > this.#bytes.length) this.#grow(at, length * 3);
    const bytes = this.#bytes;
    if (length > longestByCode) return at + bytes.write(text, at, 'utf8');
    for (let k = 0; k < length; k++) {
      const code = text.charCodeAt(k);
      if (code > 127) return at + k + bytes.write(text.slice(k), at + k, 'utf8');
      bytes[at + k] = code;
    }
    return at + length;
  }

  #grow(used: number, more: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(firstBytes, this.#bytes.length * 2, used + more));
    this.#bytes.copy(larger, 0, 0, used);
    this.#bytes = larger;
  }

  #refused(value: Value, row: number): Problem {
    const { name, type } = this.#column;
    return new Problem({
      code: 'FORMAT_VALUE',
      family: 'row',
      message: `A value of the column ${JSON.stringify(name)} is not of its type ${type}`,
      where: { column: name, row: row + 1 },
      seen: JSON.stringify(String(value).slice(0, 80)),
      allowed: type === 'json' ? 'one JSON value' : `canonical text of the type ${type}`,
      next: 'Declare the column as text, or cast it',
    });
  }
}
