import { Problem } from '../lib/problem.ts';
import { cutText } from '../lib/redact.ts';
import { loneSurrogates, type ReplacedCharacters, replacementCharacter } from '../lib/replaced-characters.ts';
import { type Batch, type ByteCells, type ValueCells, valueText } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';

/** Checks whether a string is valid in a column. Absent for a column that accepts any string. */
export type TextCheck = (text: string) => boolean;

/** Longer strings are written faster with one native call than character by character. */
const maxLengthByCode = 12;
const firstBytes = 64 * 1024;
const replacement = Buffer.from(replacementCharacter, 'utf8');

/**
 * Converts a column of values to byte cells, so that the same loop can write both kinds. Each column of an encoder has
 * its own buffer, whose memory is reused for the next batch.
 */
export class ValueBuffer {
  readonly #column: Column;
  readonly #check: TextCheck | undefined;
  readonly #replaced: ReplacedCharacters;
  #bytes: Buffer = Buffer.allocUnsafeSlow(0);
  #spans = new Int32Array(0);

  /** `replaced` counts the lone surrogates. */
  constructor(column: Column, { check, replaced }: { check?: TextCheck | undefined; replaced: ReplacedCharacters }) {
    this.#column = column;
    this.#check = check;
    this.#replaced = replaced;
  }

  /**
   * Returns the visible rows' cells as canonical text in UTF-8, numbered like the visible rows. Lone surrogates become
   * U+FFFD. Valid until the next call. Throws `FORMAT_VALUE` (with the row's number in the batch) if the check fails.
   * `before`: number of the run's rows that precede the batch.
   */
  stage(batch: Batch, cells: ValueCells, before: number): ByteCells {
    const { length, rows } = batch;
    const { values } = cells;
    if (this.#spans.length < length * 2) this.#spans = new Int32Array(length * 2);
    const spans = this.#spans;
    const check = this.#check;
    let at = 0;
    for (let i = 0; i < length; i++) {
      const value = values[rows === undefined ? i : rows[i]!] ?? null;
      const text = typeof value === 'string' ? value : valueText(value, this.#column.type);
      if (text === null) {
        spans[2 * i] = -1;
        continue;
      }
      if (check !== undefined && !check(text)) throw this.#refused(text, i);
      if (at + text.length * 3 > this.#bytes.length) this.#grow(at, maxBytes(text));
      spans[2 * i] = at;
      at = writeText(this.#bytes, at, text);
      spans[2 * i + 1] = at;
    }
    if (this.#bytes.subarray(0, at).includes(replacement)) this.#countReplaced(batch, cells, before);
    return { kind: 'bytes', bytes: this.#bytes, spans, stride: 1, slot: 0 };
  }

  /**
   * Counts the lone surrogates in the values. U+FFFD characters in the text can't be counted instead, because some of
   * them may come from the source.
   */
  #countReplaced({ length, rows }: Batch, { values }: ValueCells, before: number): void {
    const { name: column, type } = this.#column;
    for (let i = 0; i < length; i++) {
      const lone = loneSurrogates(valueText(values[rows === undefined ? i : rows[i]!] ?? null, type) ?? '');
      this.#replaced.add(lone.length, () => ({ codePoint: lone[0]!.charCodeAt(0), row: before + i + 1, column }));
    }
  }

  #grow(used: number, more: number): void {
    if (used + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(firstBytes, this.#bytes.length * 2, used + more));
    this.#bytes.copy(larger, 0, 0, used);
    this.#bytes = larger;
  }

  #refused(text: string, row: number): Problem {
    const { name, type } = this.#column;
    return new Problem({
      code: 'FORMAT_VALUE',
      family: 'row',
      message: `A value in column ${JSON.stringify(name)} is not of type ${type}`,
      where: { column: name, row: row + 1 },
      seen: JSON.stringify(cutText(text, 80)),
      allowed: type === 'json' ? 'one JSON value' : `a valid value of type ${type}`,
      next: 'declare the column as text, or cast it',
    });
  }
}

/**
 * An upper bound for a string's size in UTF-8. It's exact for long strings, because reserving three bytes per character
 * would waste memory.
 */
function maxBytes(text: string): number {
  return text.length > firstBytes ? Buffer.byteLength(text, 'utf8') : text.length * 3;
}

/** Writes a string as UTF-8 and returns the end position. The caller must have reserved the space. */
function writeText(to: Buffer, at: number, text: string): number {
  const { length } = text;
  if (length > maxLengthByCode) return at + to.write(text, at, 'utf8');
  for (let k = 0; k < length; k++) {
    const code = text.charCodeAt(k);
    if (code > 0x7f) return at + k + to.write(text.slice(k), at + k, 'utf8');
    to[at + k] = code;
  }
  return at + length;
}
