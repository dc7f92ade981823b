import { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { namesOf, noHeader } from './csv-header.ts';
import { raggedRow } from './csv-scanner.ts';
import type { CsvTable, RawRows } from './csv-table.ts';
import { openUtf8 } from './encoding.ts';
import { faultIn, type RecordInput, shorten } from './input.ts';
import type { RecordSettings } from './options.ts';

type Cell = string | null;
interface Parsed {
  readonly record: Cell[];
  readonly info: Info;
}

/** Opens a CSV document whose dialect needs csv-parse: a delimiter of several characters, or an escape of its own. */
export async function openParsed(input: RecordInput, settings: RecordSettings): Promise<CsvTable> {
  const source = Readable.from(openUtf8(input, settings.encoding), { objectMode: false });
  const parser = parse(dialectOf(settings));
  source.on('error', (error) => parser.destroy(error));
  const records = source.pipe(parser)[Symbol.asyncIterator]() as AsyncIterator<Parsed>;
  const close = async () => {
    source.destroy();
    parser.destroy();
  };
  try {
    const first = await next(input, records);
    if (first === undefined && settings.header) throw noHeader(input);
    const names = namesOf(input, first?.record ?? [], settings.header);
    const kept = settings.header ? undefined : first;
    return { names, rows: rowsOf({ input, records, width: names.length }, kept), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function dialectOf(settings: RecordSettings) {
  const { delimiter, quote, comment, skip_rows, null_text } = settings;
  return {
    delimiter,
    quote: quote === '' ? null : quote,
    escape: settings.escape ?? (quote === '' ? null : quote),
    ...(comment === undefined ? {} : { comment, comment_no_infix: true }),
    from_line: skip_rows + 1,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    info: true,
    cast: (text: string, { quoting }: { quoting: boolean }) => (!quoting && text === null_text ? null : text),
  };
}

async function next(input: RecordInput, records: AsyncIterator<Parsed>): Promise<Parsed | undefined> {
  try {
    const { done, value } = await records.next();
    return done ? undefined : value;
  } catch (error) {
    throw error instanceof CsvError ? asFault(input, error) : error;
  }
}

function asFault(input: RecordInput, error: CsvError) {
  return faultIn(input, { code: 'CSV_QUOTE', message: shorten(error.message, 200) });
}

interface Rows {
  readonly input: RecordInput;
  readonly records: AsyncIterator<Parsed>;
  readonly width: number;
}

async function* rowsOf(given: Rows, kept: Parsed | undefined): AsyncGenerator<RawRows> {
  let held: Parsed[] = kept === undefined ? [] : [kept];
  for (let parsed = await next(given.input, given.records); parsed; parsed = await next(given.input, given.records)) {
    const seen = parsed.record.length;
    if (seen !== given.width) throw raggedRow(given.input, { line: parsed.info.lines, width: given.width, seen });
    held.push(parsed);
    if (held.length < 1024) continue;
    yield rawRows(held);
    held = [];
  }
  if (held.length > 0) yield rawRows(held);
}

function rawRows(held: readonly Parsed[]): RawRows {
  return {
    rows: held.length,
    cells: (slot) => ({ kind: 'values', values: held.map(({ record }) => record[slot] ?? null) }),
    lineOf: (r) => held[r]!.info.lines,
  };
}
