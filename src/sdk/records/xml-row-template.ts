import { same } from '../../lib/four-bytes.ts';
import { noWay, type XmlColumnPart } from './xml-column-part.ts';

/** What is known where a text begins: its line, and where the last complete record ended. */
interface TextStart {
  readonly start: number;
  readonly line: number;
  readonly end: number;
  readonly endLine: number;
}

/**
 * Row template: what is between the texts of two columns, tags and white space, is mostly the same again. Each column
 * remembers the last two ways to another text, also to one in the next row, so they only have to be compared.
 */
export class XmlRowTemplate {
  /** The column that was read last. */
  last: XmlColumnPart;
  /** Where its text ended; -1 if values have come since that are none of a column. */
  textEnd = -1;
  /** The elements that were opened since and have elements inside. */
  readonly entered: XmlColumnPart[] = [];
  #textEndLine = 0;
  /** All columns that have a way. */
  readonly #known: XmlColumnPart[] = [];

  constructor(root: XmlColumnPart) {
    this.last = root;
  }

  forget(): void {
    for (const part of this.#known) {
      part.way = noWay;
      part.otherWay = noWay;
    }
    this.#known.length = 0;
    this.textEnd = -1;
  }

  /** Notes the end of a column's text. */
  note(part: XmlColumnPart, textEnd: number, line: number): void {
    this.last = part;
    this.textEnd = textEnd;
    this.#textEndLine = line;
    this.entered.length = 0;
  }

  /** Remembers what led from the text of the last column to that of this one. */
  learn(to: XmlColumnPart, { start, line, end, endLine }: TextStart): void {
    const { last, textEnd } = this;
    const isNextRow = end > textEnd;
    const lines = line - (isNextRow ? endLine : this.#textEndLine);
    if (last.way === noWay) this.#known.push(last);
    last.otherWay = last.way;
    last.way = {
      to,
      start: textEnd,
      length: start - textEnd,
      isPlain: !isNextRow && lines === 0 && this.entered.length === 0,
      lines,
      rowLength: isNextRow ? end - textEnd : 0,
      rowLines: isNextRow ? endLine - this.#textEndLine : 0,
      entered: [...this.entered],
    };
  }
}

/** Prefers the other way of a column if it begins here. `view` shows the bytes at hand. */
export function swapWays(view: DataView, part: XmlColumnPart, pos: number): boolean {
  const { way, otherWay } = part;
  const { start, length } = otherWay;
  if (pos + length >= view.byteLength || !same(view, start, pos, length)) return false;
  part.way = otherWay;
  part.otherWay = way;
  return true;
}
