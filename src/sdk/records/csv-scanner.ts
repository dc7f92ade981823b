import { faultIn, type RecordInput, shorten } from './input.ts';

const lf = 10;
const cr = 13;

/** How cells are told apart, in bytes. */
interface CsvDialect {
  /** One ASCII byte. */
  readonly delimiter: number;
  /** One ASCII byte, or -1 when nothing quotes. It is doubled inside a quoted cell (RFC 4180). */
  readonly quote: number;
  /** Lines that begin so are left out; empty for none. */
  readonly comment: Buffer;
  /** An unquoted cell with these bytes is null. */
  readonly nullText: Buffer;
}

interface CsvScannerInit {
  readonly input: RecordInput;
  readonly dialect: CsvDialect;
  /** Line of the input that the scanner begins at, 1-based. */
  readonly line: number;
}

/**
 * Finds the cells of UTF-8 CSV without making a string of any of them. Line ends are `\n`, `\r\n` and `\r`, mixed as
 * they come. An empty line is no row, unless the table has one column alone: there it is a row whose cell is absent.
 */
export class CsvScanner {
  /** Start and end of each cell, row after row; a negative start is null. */
  spans = new Int32Array(0);
  /** Complete rows that the last scan found. */
  rows = 0;
  /** Line of each row found. */
  lines = new Int32Array(0);
  #line: number;
  readonly #init: CsvScannerInit;
  readonly #special = new Uint8Array(256);
  /** Span indices of cells that hold doubled quotes. */
  #doubled: number[] = [];

  constructor(init: CsvScannerInit) {
    this.#init = init;
    this.#line = init.line;
    for (const byte of [init.dialect.delimiter, init.dialect.quote, lf, cr]) if (byte >= 0) this.#special[byte] = 1;
  }

  /**
   * Scans at most `mostRows` rows of `width` cells from `from`; returns where the first row that is not complete (or
   * no longer wanted) begins. With `last`, the end of the bytes ends a row. Cells with doubled quotes are rewritten in
   * place. A width of 0 takes the first row whatever its width, at most `mostRows` cells of it.
   */
  scan(bytes: Buffer, from: number, limit: { width: number; mostRows: number; last: boolean }): number {
    const { delimiter, quote, comment, nullText } = this.#init.dialect;
    const { width, mostRows, last } = limit;
    const special = this.#special;
    const nulls = nullText.length;
    const end = bytes.length;
    const wanted = width === 0 ? 1 : mostRows;
    // A row with too many cells writes past the end, which typed arrays ignore, and is refused at its end.
    const spans = new Int32Array(2 * mostRows * (width || 1));
    const lines = new Int32Array(mostRows);
    this.spans = spans;
    this.lines = lines;
    this.#doubled = [];
    let rows = 0;
    let at = 0;
    let line = this.#line;
    let i = from;
    // What an incomplete row has moved on is forgotten: the next scan begins at `done`, on line `doneLine`.
    let done = from;
    let doneLine = line;
    scanning: while (rows < wanted && i < end) {
      const first = bytes[i]!;
      if (comment.length > 0 && first === comment[0]) {
        if (!last && end - i < comment.length) break;
        if (comment.compare(bytes, i, Math.min(end, i + comment.length)) === 0) {
          i = lineEnd(bytes, i, last);
          if (i < 0) break;
          doneLine = ++line;
          done = i;
          continue;
        }
      }
      if ((first === lf || first === cr) && width !== 1) {
        if (first === cr && i + 1 === end && !last) break;
        i += first === cr && bytes[i + 1] === lf ? 2 : 1;
        doneLine = ++line;
        done = i;
        continue;
      }
      const rowAt = at;
      const rowLine = line;
      for (;;) {
        let byte: number | undefined;
        if (bytes[i] === quote) {
          const start = ++i;
          let pairs = false;
          for (;;) {
            byte = bytes[i];
            if (byte === quote) {
              if (bytes[i + 1] !== quote) break;
              pairs = true;
              i++;
            } else if (byte === lf || (byte === cr && bytes[i + 1] !== lf)) line++;
            else if (i >= end) {
              if (last) throw this.#openQuote(rowLine);
              break scanning;
            }
            i++;
          }
          spans[at] = start;
          spans[at + 1] = i;
          if (pairs) this.#doubled.push(at);
          byte = bytes[++i];
          if (byte !== delimiter && byte !== lf && byte !== cr && i < end) throw this.#textAfterQuote(line);
        } else {
          const start = i;
          while (i < end && special[bytes[i]!] === 0) i++;
          byte = bytes[i];
          if (byte === quote && i < end) throw this.#strayQuote(line, bytes.toString('utf8', start, i + 20));
          const isNull = i - start === nulls && (nulls === 0 || nullText.compare(bytes, start, i) === 0);
          spans[at] = isNull ? -1 : start;
          spans[at + 1] = i;
        }
        at += 2;
        if (byte === delimiter && i < end) {
          i++;
          if (i === end && !last) break scanning;
          continue;
        }
        if (i >= end && !last) break scanning;
        if (byte === cr && i + 1 === end && !last) break scanning;
        i += byte === cr && bytes[i + 1] === lf ? 2 : 1;
        break;
      }
      if (width !== 0 && at - rowAt !== 2 * width) throw this.#ragged(rowLine, width, (at - rowAt) / 2);
      lines[rows++] = rowLine;
      doneLine = ++line;
      done = Math.min(i, end);
    }
    this.rows = rows;
    this.#line = doneLine;
    this.#undouble(bytes, width === 0 ? at : 2 * rows * width);
    if (width === 0 && rows === 1) this.spans = spans.subarray(0, at);
    return done;
  }

  #undouble(bytes: Buffer, complete: number): void {
    const { quote } = this.#init.dialect;
    for (const at of this.#doubled) {
      if (at >= complete) return;
      const end = this.spans[at + 1]!;
      let to = this.spans[at]!;
      for (let from = to; from < end; from++) {
        const byte = bytes[from]!;
        bytes[to++] = byte;
        if (byte === quote) from++;
      }
      this.spans[at + 1] = to;
    }
  }

  #ragged(line: number, width: number, seen: number) {
    return raggedRow(this.#init.input, { line, width, seen });
  }

  #openQuote(line: number) {
    return faultIn(this.#init.input, {
      code: 'CSV_QUOTE',
      message: 'the row that begins here has a quoted cell that is never closed',
      spot: { line },
      next: "close the quote, or set `quote: ''` when quotes mean nothing in this data",
    });
  }

  #textAfterQuote(line: number) {
    return faultIn(this.#init.input, {
      code: 'CSV_QUOTE',
      message: 'text follows a closing quote',
      spot: { line },
      next: "double the quotes inside the cell, or set `escape` or `quote: ''`",
    });
  }

  #strayQuote(line: number, seen: string) {
    return faultIn(this.#init.input, {
      code: 'CSV_QUOTE',
      message: 'a quote stands inside a cell that is not quoted',
      spot: { line },
      seen: shorten(seen),
      next: "quote the cell and double the quote, or set `quote: ''` when quotes mean nothing in this data",
    });
  }
}

/** The problem of a row with too few or too many cells. */
export function raggedRow(input: RecordInput, { line, width, seen }: { line: number; width: number; seen: number }) {
  return faultIn(input, {
    code: 'CSV_RAGGED',
    message: `a row has ${seen} ${seen === 1 ? 'cell' : 'cells'} where the header has ${width}`,
    spot: { line },
    seen: String(seen),
    allowed: String(width),
    next: 'mend the row, or check `delimiter` and `quote`',
  });
}

/** Where the line after the one at `from` begins; -1 when the end is not among these bytes. */
export function lineEnd(bytes: Buffer, from: number, last: boolean): number {
  for (let i = from; i < bytes.length; i++) {
    if (bytes[i] === lf) return i + 1;
    if (bytes[i] !== cr) continue;
    if (i + 1 < bytes.length) return bytes[i + 1] === lf ? i + 2 : i + 1;
    if (last) return i + 1;
    return -1;
  }
  return last ? bytes.length : -1;
}
