import { same } from '../../lib/four-bytes.ts';
import { noWay, type XmlColumnPart } from './xml-column-part.ts';

/** The state at the start of a text: its line, and where the last complete record ended. */
interface TextStart {
  readonly start: number;
  readonly line: number;
  readonly end: number;
  readonly endLine: number;
}

/**
 * A row template. The tags and white space between the texts of two columns are usually the same in each row. Each
 * column remembers the last two byte sequences from its text to another column's text, which may be in the next row, so
 * that the scanner only has to compare bytes.
 */
export class XmlRowTemplate {
  /** The last column read. */
  last: XmlColumnPart;
  /** Where the last column's text ended; -1 if values without a column have been read since. */
  textEnd = -1;
  /** The elements with child elements that have been opened since that text. */
  readonly entered: XmlColumnPart[] = [];
  #textEndLine = 0;
  /** All columns with a known way to another column. */
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

  /** Records the end of a column's text. */
  note(part: XmlColumnPart, textEnd: number, line: number): void {
    this.last = part;
    this.textEnd = textEnd;
    this.#textEndLine = line;
    this.entered.length = 0;
  }

  /** Remembers the bytes that led from the last column's text to this one's. */
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

/** Switches to a column's other way if the bytes at `pos` match it. `view` is a view of the current bytes. */
export function swapWays(view: DataView, part: XmlColumnPart, pos: number): boolean {
  const { way, otherWay } = part;
  const { start, length } = otherWay;
  if (pos + length >= view.byteLength || !same(view, start, pos, length)) return false;
  part.way = otherWay;
  part.otherWay = way;
  return true;
}
