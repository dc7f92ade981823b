import { excerptOfBytes } from '../../lib/redact.ts';
import { isLineBreak, lineEnd } from './blocks.ts';
import { maxColumns } from './columns.ts';
import { type BackslashSyntax, replaceEscapes } from './csv-escapes.ts';
import { openQuote, raggedRow, strayQuote, textAfterQuote, tooWideRow } from './csv-faults.ts';
import type { RecordInput } from './input.ts';

const lf = 10;
const cr = 13;
const space = 32;
const backslash = 92;
const dot = 46;

/** The syntax of cells, in bytes. */
export interface CsvDialect {
  /** UTF-8, one or more bytes. */
  readonly delimiter: Buffer;
  /** The quote character, one ASCII byte; -1 if cells can't be quoted. */
  readonly quote: number;
  /**
   * The escape character, one ASCII byte: in a quoted cell, the character after it is literal. It's usually the quote
   * character, so that quotes are doubled (RFC 4180).
   */
  readonly escape: number;
  /** Prefix of comment lines; empty if there are none. */
  readonly comment: Buffer;
  /** An unquoted cell with these bytes is null. */
  readonly nullText: Buffer;
  /** The syntax of backslash escapes in unquoted cells; undefined if a backslash has no meaning there. */
  readonly backslash: BackslashSyntax | undefined;
  /** Whether spaces before a cell are ignored. */
  readonly skipsSpaces: boolean;
  /** Whether missing cells at the end of a row are null. */
  readonly padsRows: boolean;
}

interface CsvScannerOptions {
  readonly input: RecordInput;
  readonly dialect: CsvDialect;
  /** The input line where the scanner starts, 1-based. */
  readonly line: number;
}

/**
 * Finds the cells in UTF-8 CSV without creating strings. Lines end with `\n`, `\r\n` or `\r`, which can be mixed. Empty
 * lines are ignored, except in a table with one column, where they're null rows.
 */
export class CsvScanner {
  /** Start and end of each cell, row after row; a negative start is null. */
  spans = new Int32Array(0);
  /** Number of complete rows in the last scan. */
  rows = 0;
  /** Line number of each row that was found. */
  lines = new Int32Array(0);
  #line: number;
  readonly #init: CsvScannerOptions;
  /** Bytes that may end a cell or need a check. */
  readonly #special = new Uint8Array(256);
  readonly #delimiterFirst: number;
  readonly #delimiterBytes: number;
  /**
   * A single byte decides whether an unquoted cell ends: the delimiter is one byte, and only quotes have a special
   * meaning in the cell.
   */
  readonly #isSimple: boolean;
  /** Span indices of cells that contain escapes. */
  #escaped: number[] = [];
  /** Whether the end of the bytes is the end of the input. */
  #isLast = false;
  /** For the last row read: the number of line ends inside its cells, and the span index after its last cell. */
  #breaks = 0;
  #rowEnd = 0;

  constructor(init: CsvScannerOptions) {
    this.#init = init;
    this.#line = init.line;
    const { delimiter, quote, escape: escaper, backslash: backslashSyntax } = init.dialect;
    this.#delimiterFirst = delimiter[0]!;
    this.#delimiterBytes = delimiter.length;
    this.#isSimple = delimiter.length === 1 && escaper === quote && backslashSyntax === undefined;
    if (backslashSyntax !== undefined) this.#special[backslash] = 1;
    for (const byte of [this.#delimiterFirst, quote, escaper, lf]) if (byte >= 0) this.#special[byte] = 1;
    // MySQL ends a row with a line feed only, and doesn't escape a carriage return in a cell.
    if (backslashSyntax !== 'mysql_text') this.#special[cr] = 1;
  }

  /**
   * Scans at most `maxRows` rows of `width` cells from `from`; returns the start of the first row that is incomplete or
   * exceeds `maxRows`. With `last`, the end of the bytes also ends a row. Cells with escapes are rewritten in place. If
   * the width is 0, the first row can have any width.
   */
  scan(bytes: Buffer, from: number, limit: { width: number; maxRows: number; last: boolean }): number {
    const { width, maxRows, last } = limit;
    const wanted = width === 0 ? 1 : maxRows;
    // A row of `n` bytes has at most `n + 1` cells. Typed arrays ignore writes past their end, so a row with too many
    // cells is rejected only when it ends.
    this.spans = new Int32Array(2 * (width === 0 ? Math.min(maxColumns, bytes.length - from + 1) : maxRows * width));
    this.lines = new Int32Array(wanted);
    this.rows = 0;
    this.#escaped = [];
    this.#isLast = last;
    let cells = 0;
    let done = from;
    while (this.rows < wanted && done < bytes.length) {
      const start = this.#pastNoRow(bytes, done, width);
      const end = start === done ? this.#row(bytes, start, cells) : start;
      if (end < 0) break;
      done = end;
      if (start === end) {
        this.#line++;
        continue;
      }
      if (width !== 0 && this.#rowEnd - cells !== 2 * width)
        this.#pad(cells, { width, isEnded: isLineBreak(bytes[end - 1]) });
      if (this.#rowEnd > this.spans.length) throw tooWideRow(this.#place(), this.#rowEnd / 2);
      cells = this.#rowEnd;
      this.lines[this.rows++] = this.#line;
      this.#line += this.#breaks + 1;
    }
    this.#unescape(bytes, cells);
    if (width === 0 && this.rows === 1) this.spans = this.spans.subarray(0, cells);
    return done;
  }

  /**
   * Adds nulls to the last row, whose cells begin at the span index `from`, if it may have fewer cells. If no line end
   * follows it, the data may be truncated.
   */
  #pad(from: number, { width, isEnded }: { readonly width: number; readonly isEnded: boolean }): void {
    const cells = (this.#rowEnd - from) / 2;
    if (cells > width || !this.#init.dialect.padsRows || !isEnded) throw raggedRow(this.#place(), width, cells);
    this.spans.fill(-1, this.#rowEnd, from + 2 * width);
    this.#rowEnd = from + 2 * width;
  }

  /** The current row's place, after `breaks` line ends in its cells. */
  #place(breaks = 0) {
    return { input: this.#init.input, line: this.#line + breaks };
  }

  /**
   * The position after the line that starts at `at` if the line isn't a row; `at` if it's a row; -1 if more bytes are
   * needed to decide.
   */
  #pastNoRow(bytes: Buffer, at: number, width: number): number {
    const { comment } = this.#init.dialect;
    const first = bytes[at]!;
    if (first === backslash && this.#init.dialect.backslash === 'postgres_text') {
      if (!this.#isLast && bytes.length - at < 3) return -1;
      // The end of the data in a file that was made for COPY FROM STDIN.
      const isEnd = bytes[at + 1] === dot && (at + 2 >= bytes.length || isLineBreak(bytes[at + 2]));
      return isEnd ? lineEnd(bytes, at, this.#isLast) : at;
    }
    if (comment.length > 0 && first === comment[0]) {
      if (!this.#isLast && bytes.length - at < comment.length) return -1;
      const isComment = comment.compare(bytes, at, Math.min(bytes.length, at + comment.length)) === 0;
      if (isComment) return lineEnd(bytes, at, this.#isLast);
    }
    const isBreak = first === lf || (first === cr && this.#special[cr] === 1);
    return width !== 1 && isBreak ? this.#pastBreak(bytes, at) : at;
  }

  /** The position after the line end at `at`, or after the last byte; -1 if more bytes are needed to decide. */
  #pastBreak(bytes: Buffer, at: number): number {
    const { length } = bytes;
    if (at >= length || (bytes[at] === cr && at + 1 === length)) return this.#isLast ? length : -1;
    return at + (bytes[at] === cr && bytes[at + 1] === lf ? 2 : 1);
  }

  /**
   * The position after the row that starts at `start`; -1 if the row is incomplete. Stores its cells from the span
   * index `at` on.
   */
  #row(bytes: Buffer, start: number, at: number): number {
    const { quote } = this.#init.dialect;
    const { length } = bytes;
    const special = this.#special;
    const delimiter = this.#delimiterFirst;
    const width = this.#delimiterBytes;
    const isSimple = this.#isSimple;
    const skipsSpaces = this.#init.dialect.skipsSpaces;
    this.#breaks = 0;
    for (let i = start; ; at += 2) {
      if (skipsSpaces) while (bytes[i] === space) i++;
      if (bytes[i] === quote) {
        i = this.#quoted(bytes, i + 1, at);
        if (i < 0) return -1;
      } else {
        const cell = i;
        while (i < length && special[bytes[i]!] === 0) i++;
        if (!isSimple) i = this.#bareEnd(bytes, i, at);
        if (i < 0) return -1;
        this.#plain(bytes, at, cell, i);
      }
      if (i >= length || bytes[i] !== delimiter) {
        this.#rowEnd = at + 2;
        return this.#pastBreak(bytes, i);
      }
      i += width;
      if (i >= length && !this.#isLast) return -1;
    }
  }

  /** The end of the unquoted cell that contains the byte at `start`; -1 if more bytes are needed to decide. */
  #bareEnd(bytes: Buffer, start: number, at: number): number {
    const { quote, escape: escaper, backslash: syntax } = this.#init.dialect;
    const { length } = bytes;
    const special = this.#special;
    for (let i = start; ; i++) {
      while (i < length && special[bytes[i]!] === 0) i++;
      const byte = bytes[i];
      if (byte === this.#delimiterFirst) {
        const found = this.#isDelimiter(bytes, i);
        if (found === undefined) return -1;
        if (found) return i;
      } else if (byte === backslash && syntax !== undefined) {
        if (this.#escaped.at(-1) !== at) this.#escaped.push(at);
        if (i + 1 >= length) return this.#isLast ? length : -1;
        i++;
        if (isLineBreak(bytes[i])) this.#breaks++;
      } else if (byte !== escaper || byte === quote) return i;
    }
  }

  /**
   * Whether the whole delimiter is at `at`, the position of its first byte; undefined if more bytes are needed to
   * decide.
   */
  #isDelimiter(bytes: Buffer, at: number): boolean | undefined {
    const { delimiter } = this.#init.dialect;
    for (let i = 1; i < delimiter.length; i++) {
      if (at + i >= bytes.length) return this.#isLast ? false : undefined;
      if (bytes[at + i] !== delimiter[i]) return false;
    }
    return true;
  }

  #plain(bytes: Buffer, at: number, start: number, end: number): void {
    const { quote, nullText } = this.#init.dialect;
    if (end < bytes.length && bytes[end] === quote)
      throw strayQuote(this.#place(this.#breaks), excerptOfBytes(bytes, start, Math.min(end, start + 40) + 20));
    const isNull = end - start === nullText.length && (end === start || nullText.compare(bytes, start, end) === 0);
    this.spans[at] = isNull ? -1 : start;
    this.spans[at + 1] = end;
  }

  /** The position after the closing quote of the cell that starts at `start`; -1 if the bytes don't include it. */
  #quoted(bytes: Buffer, start: number, at: number): number {
    const { quote, escape: escaper } = this.#init.dialect;
    const { length } = bytes;
    const special = this.#special;
    let hasEscapes = false;
    let end = start;
    for (; ; end++) {
      while (end < length && special[bytes[end]!] === 0) end++;
      let byte = bytes[end];
      if (byte === escaper && (escaper !== quote || bytes[end + 1] === quote)) {
        hasEscapes = true;
        byte = bytes[++end];
      } else if (byte === quote) break;
      if (end >= length) {
        if (this.#isLast) throw openQuote(this.#place());
        return -1;
      }
      if (byte === lf || (byte === cr && bytes[end + 1] !== lf)) this.#breaks++;
    }
    this.spans[at] = start;
    this.spans[at + 1] = end;
    if (hasEscapes) this.#escaped.push(at);
    return this.#pastQuote(bytes, end + 1);
  }

  /** `at`, the position after a closing quote, if the cell ends there; -1 if more bytes are needed to decide. */
  #pastQuote(bytes: Buffer, at: number): number {
    const behind = bytes[at];
    if (behind === undefined || behind === lf || behind === cr) return at;
    const ends = behind === this.#delimiterFirst && this.#isDelimiter(bytes, at);
    if (ends === false) throw textAfterQuote(this.#place(this.#breaks));
    return ends === undefined ? -1 : at;
  }

  #unescape(bytes: Buffer, complete: number): void {
    const { escape: escaper, backslash: syntax } = this.#init.dialect;
    for (const at of this.#escaped) {
      if (at >= complete) return;
      const end = this.spans[at + 1]!;
      let to = this.spans[at]!;
      if (to < 0) continue;
      if (syntax !== undefined) {
        this.spans[at + 1] = replaceEscapes({ input: this.#init.input, syntax, bytes, start: to, end });
        continue;
      }
      for (let from = to; from < end; from++) {
        if (bytes[from] === escaper) from++;
        bytes[to++] = bytes[from]!;
      }
      this.spans[at + 1] = to;
    }
  }
}
