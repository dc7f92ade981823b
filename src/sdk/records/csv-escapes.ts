import { faultIn, type RecordInput, shorten } from './input.ts';

/**
 * The text formats of PostgreSQL's COPY and of MySQL's `SELECT … INTO OUTFILE`: cells aren't quoted, and a backslash
 * escapes the characters that would end a cell or a row.
 */
export type BackslashSyntax = 'postgres_text' | 'mysql_text';

/** PostgreSQL's COPY, "Text Format". */
const postgresLetters: Readonly<Record<string, number>> = { b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };
/** MySQL's LOAD DATA, `ESCAPED BY`. */
const mysqlLetters: Readonly<Record<string, number>> = { '0': 0, b: 8, n: 10, r: 13, t: 9, Z: 26 };

const backslash = 92;

interface CellEscapes {
  readonly input: RecordInput;
  readonly syntax: BackslashSyntax;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Replaces the escapes of a cell in place, and returns the cell's new end. */
export function replaceEscapes({ input, syntax, bytes, start, end }: CellEscapes): number {
  const letters = syntax === 'postgres_text' ? postgresLetters : mysqlLetters;
  let to = start;
  for (let from = start; from < end; from++) {
    let byte = bytes[from]!;
    if (byte === backslash && from + 1 < end) {
      const code = syntax === 'postgres_text' ? codeAt(bytes, from + 1, end) : undefined;
      byte = code?.byte ?? letters[String.fromCharCode(bytes[from + 1]!)] ?? bytes[from + 1]!;
      if (byte === 0 || (code !== undefined && byte >= 0x80)) throw notText(input, bytes.toString('utf8', start, end));
      from += code?.length ?? 1;
    }
    bytes[to++] = byte;
  }
  return to;
}

/** The byte that PostgreSQL's `\x41` or `\101` means, and the escape's length without the backslash. */
function codeAt(
  bytes: Buffer,
  at: number,
  end: number,
): { readonly byte: number; readonly length: number } | undefined {
  const text = bytes.toString('latin1', at, Math.min(end, at + 3));
  const [hex] = /^x[\da-f]{1,2}/i.exec(text) ?? [];
  if (hex !== undefined) return { byte: Number.parseInt(hex.slice(1), 16), length: hex.length };
  const [octal] = /^[0-7]{1,3}/.exec(text) ?? [];
  return octal === undefined ? undefined : { byte: Number.parseInt(octal, 8) & 0xff, length: octal.length };
}

function notText(input: RecordInput, seen: string) {
  return faultIn(input, {
    code: 'CSV_ESCAPE',
    message: 'a cell has an escape for a byte that is not text',
    seen: shorten(seen),
    next: "export binary columns as text, for example with `encode(column, 'hex')` or `HEX(column)`",
  });
}
