import { same } from '../lib/four-bytes.ts';

/** Rows of more columns are read without this. */
const maxColumns = 256;

/** A child of a row that is nothing but text between two tags without attributes: offsets, and the lines they are on. */
export interface XmlCell {
  readonly name: number;
  readonly nameEnd: number;
  readonly line: number;
  readonly textEnd: number;
  readonly textEndLine: number;
}

const waiting = 0;
const inRow = 1;
const betweenRows = 2;
const inNextRow = 3;

/**
 * Data says the same again and again: from the text of a row's first column to that of the next row's, all but the texts
 * is the same bytes each time. What was well-formed once is so again where the same elements are open, so that it only has
 * to be compared. All offsets are meant in the bytes at hand; with the next ones, everything is forgotten.
 */
export class XmlRowTemplate {
  /** What stands behind each column's text, up to the text of the next; the last leads to the first of the next row. */
  readonly starts = new Int32Array(maxColumns);
  readonly lengths = new Int32Array(maxColumns);
  /** The lines that end in it. */
  readonly lines = new Int32Array(maxColumns);
  readonly names = new Int32Array(maxColumns);
  readonly nameEnds = new Int32Array(maxColumns);
  columns = 0;
  #state = waiting;
  #last: XmlCell | undefined;
  /** The name of the row that was closed. */
  #row = 0;
  #rowEnd = 0;

  forget(): void {
    this.#state = waiting;
  }

  closeRow(name: number, nameEnd: number): void {
    this.#state = this.#state === inRow ? betweenRows : waiting;
    this.#row = name;
    this.#rowEnd = nameEnd;
  }

  openRow(view: DataView, name: number, nameEnd: number): void {
    const length = nameEnd - name;
    const goesOn = this.#state === betweenRows && length === this.#rowEnd - this.#row;
    this.#state = goesOn && same(view, name, this.#row, length) ? inNextRow : waiting;
  }

  /** Notes a column. True when it is the first of a row and the row before is known by heart. */
  column(view: DataView, leaf: XmlCell): boolean {
    const isNext = this.#state === inNextRow;
    if (this.#state === inRow || isNext) this.#noteWay(leaf);
    if (isNext && this.#isFirst(view, leaf)) return true;
    if (this.#state !== inRow || this.columns === maxColumns) this.columns = 0;
    this.#state = inRow;
    this.names[this.columns] = leaf.name;
    this.nameEnds[this.columns] = leaf.nameEnd;
    this.#last = leaf;
    return false;
  }

  #noteWay({ nameEnd, line }: XmlCell): void {
    const { textEnd, textEndLine } = this.#last!;
    this.starts[this.columns] = textEnd;
    this.lengths[this.columns] = nameEnd + 1 - textEnd;
    this.lines[this.columns++] = line - textEndLine;
  }

  #isFirst(view: DataView, { name, nameEnd }: XmlCell): boolean {
    const length = nameEnd - name;
    return length === this.nameEnds[0]! - this.names[0]! && same(view, name, this.names[0]!, length);
  }
}
