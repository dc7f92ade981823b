import type { Cells } from '../batch.ts';
import { Blocks, isLineBreak, lineEnd } from './blocks.ts';
import { maxRows } from './columns.ts';
import { namesOf, noHeader, refuseOtherDelimiter } from './csv-header.ts';
import { type CsvDialect, CsvScanner } from './csv-scanner.ts';
import { openUtf8 } from './encoding.ts';
import type { RecordInput } from './input.ts';
import { delimiterOf, type RecordOptions } from './options.ts';

const space = 32;

/** The text without its last lines, not counting blank lines. Buffers only these lines, whatever the file's size. */
async function* withoutLastLines(chunks: AsyncIterable<Buffer>, lines: number): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk]);
    const end = startOfLast(held, lines);
    if (end > 0) yield held.subarray(0, end);
    held = held.subarray(end);
  }
}

/** Start of the last `lines` non-blank lines; 0 if the text has no other non-blank lines. */
function startOfLast(bytes: Buffer, lines: number): number {
  let at = bytes.length;
  for (let line = 0; line < lines; line++) {
    while (at > 0 && isLineBreak(bytes[at - 1])) at--;
    while (at > 0 && !isLineBreak(bytes[at - 1])) at--;
  }
  return at;
}

/** A table's rows, with the cells in the same order as in the data. */
export interface RawRows {
  readonly rows: number;
  cells(slot: number): Cells;
  lineOf(r: number): number;
}

/** An open CSV document, whose column names are known and whose rows are read on demand. */
export interface CsvTable {
  readonly names: readonly string[];
  /** Line of its first row. */
  readonly line: number;
  readonly rows: AsyncGenerator<RawRows>;
  close(): Promise<void>;
}

/** Opens a CSV document. */
export async function openCsv(input: RecordInput, settings: RecordOptions): Promise<CsvTable> {
  const text = openUtf8(input, settings);
  const { skip_footer, blockBytes } = settings;
  const blocks = new Blocks(input, skip_footer === 0 ? text : withoutLastLines(text, skip_footer), blockBytes);
  try {
    return await begin(input, settings, blocks);
  } catch (error) {
    await blocks.close();
    throw error;
  }
}

async function begin(input: RecordInput, settings: RecordOptions, blocks: Blocks): Promise<CsvTable> {
  await blocks.refill(0);
  const { from, line, delimiter } = await tableStart(input, settings, blocks);
  const dialect = dialectOf(settings, delimiter);
  const scanner = new CsvScanner({ input, dialect, line });
  const first = await firstRow(scanner, blocks, from);
  if (first === undefined && settings.header) throw noHeader(input);
  const names = namesOf(input, first ?? { texts: [], line }, settings.header);
  if (settings.header && !first!.isQuoted) refuseOtherDelimiter(input, names, first!.line);
  // If there is no header, the first row is data, so the scanner reads it again, with the same line number.
  const again = settings.header ? scanner : new CsvScanner({ input, dialect, line });
  const rows = rowsOf(again, blocks, { from: settings.header ? first!.end : from, width: names.length });
  return { names, line: first?.line ?? line, rows, close: () => blocks.close() };
}

/** A program's format without quotes has its own defaults. */
function dialectOf(settings: RecordOptions, delimiter: string): CsvDialect {
  const backslash = settings.dialect === 'csv' ? undefined : settings.dialect;
  const quote = settings.quote === '' || backslash !== undefined ? -1 : settings.quote.charCodeAt(0);
  const isNullDefault = settings.null_text === '' && backslash !== undefined;
  return {
    delimiter: Buffer.from(delimiter, 'utf8'),
    quote,
    escape: settings.escape === undefined ? quote : settings.escape.charCodeAt(0),
    comment: Buffer.from(settings.comment ?? '', 'utf8'),
    nullText: Buffer.from(isNullDefault ? '\\N' : settings.null_text, 'utf8'),
    backslash,
    skipsSpaces: settings.skip_initial_space,
    padsRows: settings.null_padding,
  };
}

interface TableStart {
  /** Bytes before the table. */
  readonly from: number;
  /** Its first line. */
  readonly line: number;
  readonly delimiter: string;
}

/**
 * Where the table starts. A delimiter line (`sep=;`) is either the first line, which then counts towards `skip_rows`,
 * or the first line after the skipped lines.
 */
async function tableStart(input: RecordInput, settings: RecordOptions, blocks: Blocks): Promise<TableStart> {
  const { skip_rows } = settings;
  const top = await declaredDelimiter(blocks, 0);
  const from = await skipLines(input, skip_rows, blocks);
  const declared = skip_rows === 0 ? top : await declaredDelimiter(blocks, from);
  const delimiter = declared.delimiter ?? top.delimiter ?? delimiterOf(settings.delimiter, settings.dialect);
  return { from: declared.from, line: skip_rows + (declared.delimiter === undefined ? 1 : 2), delimiter };
}

async function skipLines(input: RecordInput, lines: number, blocks: Blocks): Promise<number> {
  let at = 0;
  for (let skipped = 0; skipped < lines; ) {
    const next = lineEnd(blocks.bytes, at, blocks.last);
    if (next >= 0) {
      at = next;
      skipped++;
    } else {
      await blocks.refill(at);
      at = 0;
    }
    if (blocks.last && at >= blocks.bytes.length && skipped < lines) throw noHeader(input);
  }
  return at;
}

/**
 * Excel reads the delimiter from a first line such as `sep=;`, which many programs write. This line isn't a row. Its
 * delimiter overrides the option, because it comes from the file itself.
 */
async function declaredDelimiter(blocks: Blocks, from: number): Promise<{ from: number; delimiter?: string }> {
  let at = from;
  while (blocks.bytes.length - at < maxSeparatorLineBytes && !blocks.last) {
    await blocks.refill(at);
    at = 0;
  }
  const head = blocks.bytes.toString('latin1', at, at + maxSeparatorLineBytes);
  const [line, , sign] = /^("?)sep=([\t -!#-~])\1(?:\r\n|\n|\r(?!$))/i.exec(head) ?? [];
  return line === undefined ? { from: at } : { from: at + line.length, delimiter: sign! };
}

const maxSeparatorLineBytes = '"sep=;"\r\n'.length;

interface FirstRow {
  readonly texts: (string | null)[];
  readonly line: number;
  /** Whether the first cell was quoted. */
  readonly isQuoted: boolean;
  readonly end: number;
}

async function firstRow(scanner: CsvScanner, blocks: Blocks, from: number): Promise<FirstRow | undefined> {
  for (;;) {
    // Copied, because scanning rewrites cells with escapes in place, and a file without a header is scanned again.
    const bytes = Buffer.from(blocks.bytes);
    const end = scanner.scan(bytes, from, { width: 0, maxRows: 1, last: blocks.last });
    if (scanner.rows === 1) {
      const texts = textsOf(scanner, bytes);
      return { texts, line: scanner.lines[0]!, isQuoted: isQuoted(scanner, bytes), end };
    }
    if (blocks.last) return undefined;
    const rest = blocks.bytes.subarray(from);
    await blocks.refill(blocks.bytes.length - rest.length);
    from = 0;
  }
}

/** Only spaces and a quote can be between the start of a row and its first cell. */
function isQuoted({ spans }: CsvScanner, bytes: Buffer): boolean {
  const before = bytes[spans[0]! - 1];
  return before !== undefined && !isLineBreak(before) && before !== space;
}

function textsOf({ spans }: CsvScanner, bytes: Buffer): (string | null)[] {
  return Array.from({ length: spans.length / 2 }, (_, c) =>
    spans[2 * c]! < 0 ? null : bytes.toString('utf8', spans[2 * c]!, spans[2 * c + 1]!),
  );
}

async function* rowsOf(
  scanner: CsvScanner,
  blocks: Blocks,
  { from, width }: { from: number; width: number },
): AsyncGenerator<RawRows> {
  if (width === 0) return;
  let at = from;
  let capacity = 256;
  do {
    for (;;) {
      at = scanner.scan(blocks.bytes, at, { width, maxRows: capacity, last: blocks.last });
      if (scanner.rows > 0) yield rawRows(scanner, blocks.bytes, width);
      if (scanner.rows < capacity) break;
      capacity = Math.min(maxRows(width), capacity * 2);
    }
  } while (await refilled());

  async function refilled(): Promise<boolean> {
    const more = await blocks.refill(at);
    at = 0;
    return more;
  }
}

function rawRows({ spans, lines, rows }: CsvScanner, bytes: Buffer, width: number): RawRows {
  return {
    rows,
    cells: (slot) => ({ kind: 'bytes', bytes, spans, stride: width, slot }),
    lineOf: (r) => lines[r]!,
  };
}
