import type { Cells } from '../batch.ts';
import { Blocks } from './blocks.ts';
import { namesOf, noHeader, refuseOtherDelimiter } from './csv-header.ts';
import { openParsed } from './csv-parsed.ts';
import { CsvScanner, lineEnd } from './csv-scanner.ts';
import { openUtf8 } from './encoding.ts';
import type { RecordInput } from './input.ts';
import type { RecordSettings } from './options.ts';

/** Rows of a table as they stand in the data, by position of the cell. */
export interface RawRows {
  readonly rows: number;
  cells(slot: number): Cells;
  lineOf(r: number): number;
}

/** One CSV document that has begun: its names are known, its rows come as they are asked for. */
export interface CsvTable {
  readonly names: readonly string[];
  readonly rows: AsyncGenerator<RawRows>;
  close(): Promise<void>;
}

const mostRows = 4096;
const mostColumns = 16_384;

/** Opens a CSV document: by the scanner, or by csv-parse where the dialect is one that the scanner does not speak. */
export function openCsv(input: RecordInput, settings: RecordSettings): Promise<CsvTable> {
  return isPlain(settings) ? openScanned(input, settings) : openParsed(input, settings);
}

function isPlain({ delimiter, quote, ...rest }: RecordSettings): boolean {
  const isByte = (text: string) => text.length === 1 && text.charCodeAt(0) < 0x80;
  return isByte(delimiter) && (quote === '' || isByte(quote)) && (rest.escape === undefined || rest.escape === quote);
}

async function openScanned(input: RecordInput, settings: RecordSettings): Promise<CsvTable> {
  const blocks = new Blocks(input, openUtf8(input, settings.encoding), settings.blockBytes);
  try {
    return await begin(input, settings, blocks);
  } catch (error) {
    await blocks.close();
    throw error;
  }
}

async function begin(input: RecordInput, settings: RecordSettings, blocks: Blocks): Promise<CsvTable> {
  await blocks.refill(0);
  const { from: skipped, delimiter } = await toldDelimiter(blocks, await skipLines(input, settings.skip_rows, blocks));
  const line = settings.skip_rows + (delimiter === undefined ? 1 : 2);
  const dialect = {
    delimiter: delimiter ?? settings.delimiter.charCodeAt(0),
    quote: settings.quote === '' ? -1 : settings.quote.charCodeAt(0),
    comment: Buffer.from(settings.comment ?? '', 'utf8'),
    nullText: Buffer.from(settings.null_text, 'utf8'),
  };
  const scanner = new CsvScanner({ input, dialect, line });
  const first = await firstRow(scanner, blocks, skipped);
  if (first === undefined && settings.header) throw noHeader(input);
  const names = namesOf(input, first?.texts ?? [], settings.header);
  if (settings.header && !first!.isQuoted) refuseOtherDelimiter(input, names);
  // Without a header the first row is data: it is scanned again as such, on the line where it was met.
  const from = settings.header ? first!.end : skipped;
  const again = settings.header ? scanner : new CsvScanner({ input, dialect, line });
  return { names, rows: rowsOf(again, blocks, { from, width: names.length }), close: () => blocks.close() };
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
 * Excel takes a first line such as `sep=;` for what stands between the cells, and many programs write one for it. It is no row,
 * and decides over the option, for the file says so itself.
 */
async function toldDelimiter(blocks: Blocks, from: number): Promise<{ from: number; delimiter?: number }> {
  let at = from;
  while (blocks.bytes.length - at < longestSeparatorLine && !blocks.last) {
    await blocks.refill(at);
    at = 0;
  }
  const head = blocks.bytes.toString('latin1', at, at + longestSeparatorLine);
  const [line, sign] = /^sep=([\t -!#-~])(?:\r\n|\n|\r(?!$))/i.exec(head) ?? [];
  return line === undefined ? { from: at } : { from: at + line.length, delimiter: sign!.charCodeAt(0) };
}

const longestSeparatorLine = 'sep=;\r\n'.length;

interface FirstRow {
  readonly texts: (string | null)[];
  /** The first cell stood in quotes. */
  readonly isQuoted: boolean;
  readonly end: number;
}

async function firstRow(scanner: CsvScanner, blocks: Blocks, from: number): Promise<FirstRow | undefined> {
  for (;;) {
    // Cells with doubled quotes are rewritten in place, and without a header these bytes are scanned once more.
    const bytes = Buffer.from(blocks.bytes);
    const end = scanner.scan(bytes, from, { width: 0, mostRows: mostColumns, last: blocks.last });
    if (scanner.rows === 1) {
      const texts = textsOf(scanner, bytes);
      return { texts, isQuoted: isQuoted(scanner, bytes), end };
    }
    if (blocks.last) return undefined;
    const rest = blocks.bytes.subarray(from);
    await blocks.refill(blocks.bytes.length - rest.length);
    from = 0;
  }
}

/** Between a row's beginning and its first cell there is nothing but a quote. */
function isQuoted({ spans }: CsvScanner, bytes: Buffer): boolean {
  const before = bytes[spans[0]! - 1];
  return before !== undefined && before !== 10 && before !== 13;
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
      at = scanner.scan(blocks.bytes, at, { width, mostRows: capacity, last: blocks.last });
      if (scanner.rows > 0) yield rawRows(scanner, blocks.bytes, width);
      if (scanner.rows < capacity) break;
      capacity = Math.min(mostRows, capacity * 2);
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
