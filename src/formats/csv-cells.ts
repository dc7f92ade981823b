import { type CellWriter, type Escape, writeSlices } from './cell-writer.ts';
import { escapeSet } from './copy-unescaped.ts';
import type { Output } from './output.ts';

const quote = 34;
const space = 32;
/** CR and LF are below this code; other common characters aren't. */
const lineEnds = 0x10;

/** Separators that readers may detect in the first line. */
export const separators: readonly string[] = [',', ';', '\t', '|'];

/** The rules for quoting a cell. A cell that contains a quote or a line break is always quoted. */
interface QuoteRules {
  /** Bytes that must not occur outside quotes, each written as the character with that code. */
  readonly separators: readonly string[];
  /** The text of a null cell. A value with the same text is quoted. */
  readonly nullText: string;
}

/**
 * Writes cells of a CSV document (RFC 4180). A cell is quoted if it contains a separator, a quote, CR or LF, if it's
 * empty, if it starts or ends with white space, or if it equals the null text. Quotes inside the cell are doubled.
 */
export function csvCells({ separators: among, nullText }: QuoteRules): CellWriter {
  const special = new Uint8Array(256);
  for (const character of ['"', '\r', '\n', ...among]) special[character.charCodeAt(0)] = 1;
  const nullBytes = Buffer.from(nullText, 'utf8');
  const odd = (from: Buffer, start: number, end: number): boolean =>
    from[start]! <= space || from[end - 1]! <= space || same(from, start, end, nullBytes);

  const small: Escape = (to, at, from, start, end) => {
    if (start === end || odd(from, start, end)) return quoted(to, at, from, start, end);
    let o = at;
    for (let p = start; p < end; p++) {
      const byte = from[p]!;
      if (special[byte] === 1) return quoted(to, at, from, start, end);
      to[o++] = byte;
    }
    return o;
  };

  const large = (out: Output, from: Buffer, start: number, end: number): void => {
    const cell = from.subarray(start, end);
    const quotes = odd(from, start, end) || cell.some((byte) => special[byte] === 1);
    if (!quotes) {
      out.bytes(cell);
      return;
    }
    out.text('"');
    writeSlices(doubled, out, from, [start, end]);
    out.text('"');
  };
  const others = ['"', ...among].map((character) => character.charCodeAt(0)).filter((byte) => byte >= lineEnds);
  const canLook = others.length <= 4 && nullText === '';
  return canLook ? { small, large, stops: escapeSet(lineEnds, others, space) } : { small, large };
}

const apostrophe = Buffer.from("'");
/**
 * First characters that make spreadsheets evaluate a cell as a formula (OWASP, CSV injection). Some spreadsheets ignore
 * white space before them.
 */
const formulaStart = /^[\t\r\n ]*[=+@-]/;
const plainNumber = /^[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?%?$/;
/** Maximum length of a number. No realistic number is longer. */
const maxNumberBytes = 64;

/** Whether a spreadsheet treats a string as a formula. */
export function isFormula(text: string): boolean {
  return formulaStart.test(text) && !(text.length <= maxNumberBytes && plainNumber.test(text));
}

/** The text before {@link formulasEscaped}. A text that had such an apostrophe before loses it. */
export function formulaUnescaped(text: string): string {
  return text.startsWith("'") && isFormula(text.slice(1)) ? text.slice(1) : text;
}

/**
 * Wraps a cell writer: puts an apostrophe before each cell that a spreadsheet would treat as a formula. Signed numbers
 * aren't formulas.
 */
export function formulasEscaped(writer: CellWriter): CellWriter {
  const escaped = (from: Buffer, start: number, end: number): Buffer | undefined => {
    const head = from.toString('latin1', start, Math.min(end, start + maxNumberBytes + 1));
    return isFormula(head) ? Buffer.concat([apostrophe, from.subarray(start, end)]) : undefined;
  };
  return {
    small(to, at, from, start, end) {
      const cell = escaped(from, start, end);
      return cell === undefined ? writer.small(to, at, from, start, end) : writer.small(to, at, cell, 0, cell.length);
    },
    large(out, from, start, end) {
      const cell = escaped(from, start, end);
      if (cell === undefined) writer.large(out, from, start, end);
      else writer.large(out, cell, 0, cell.length);
    },
  };
}

const quoted: Escape = (to, at, from, start, end) => {
  to[at++] = quote;
  at = doubled(to, at, from, start, end);
  to[at++] = quote;
  return at;
};

const doubled: Escape = (to, at, from, start, end) => {
  for (let p = start; p < end; p++) {
    const byte = from[p]!;
    if (byte === quote) to[at++] = quote;
    to[at++] = byte;
  }
  return at;
};

function same(from: Buffer, start: number, end: number, text: Buffer): boolean {
  if (end - start !== text.length) return false;
  for (let k = 0; k < text.length; k++) if (from[start + k] !== text[k]) return false;
  return true;
}
