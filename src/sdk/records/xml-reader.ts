import type { Batch, Cells, Value } from '../batch.ts';
import type { Column } from '../column.ts';
import type { Extraction } from '../connector.ts';
import { columnsOf, declaredColumns, unknownColumn } from './columns.ts';
import { openUtf8 } from './encoding.ts';
import { faultIn, type RecordInput } from './input.ts';
import { inputCells, withInputColumns } from './input-columns.ts';
import type { RecordSettings } from './options.ts';
import type { RecordReader, SurveyAsk, Surveyed } from './reader.ts';
import { retype } from './retype.ts';
import { type XmlRecord, XmlRecords } from './xml-records.ts';

const mostRows = 1024;
const mostColumns = 16_384;

/** Reads the repeated elements of XML documents: once for the union of their parts, once for the rows. */
export class XmlReader implements RecordReader {
  readonly #settings: RecordSettings;
  readonly #inputs: RecordInput[] = [];
  /** Paths met, in order of first appearance; true where one stood more than once in a record. */
  readonly #paths = new Map<string, boolean>();

  constructor(settings: RecordSettings) {
    this.#settings = settings;
  }

  async survey(input: RecordInput, ask: SurveyAsk = {}): Promise<Surveyed> {
    this.#inputs.push(input);
    if (this.#settings.columns.length > 0 && !ask.count) return { records: undefined, values: new Map() };
    let records = 0;
    for await (const held of this.#read(input)) {
      records += held.records.length;
      for (const record of held.records) this.#meet(input, record);
    }
    return { records, values: new Map() };
  }

  extraction(): Extraction {
    const columns = this.#columns();
    const all = withInputColumns(this.#settings, columns);
    return { columns: all, batches: this.#batches(all, columns) };
  }

  #meet(input: RecordInput, record: XmlRecord): void {
    for (const [path, value] of record) {
      if (Array.isArray(value)) this.#paths.set(path, true);
      else if (!this.#paths.has(path)) this.#paths.set(path, false);
    }
    if (this.#paths.size > mostColumns) throw tooManyColumns(input);
  }

  #columns(): readonly Column[] {
    const { columns, types } = this.#settings;
    if (columns.length > 0) return declaredColumns(this.#settings);
    const found = [...this.#paths].map(([name, isRepeated]): Column => ({ name, type: isRepeated ? 'json' : 'text' }));
    return columnsOf(found, { types, strict: false });
  }

  async *#read(input: RecordInput): AsyncGenerator<XmlRecords> {
    const parser = new XmlRecords(input, this.#settings.records);
    for await (const chunk of openUtf8(input, this.#settings.encoding ?? declaredEncoding)) {
      // In pieces, so that what is held between two yields stays small whatever the chunks are.
      for (let at = 0, end = 0; at < chunk.length; at = end) {
        end = pieceEnd(chunk, at + 65_536);
        parser.write(chunk.toString('utf8', at, end));
        if (parser.records.length < mostRows) continue;
        yield parser;
        parser.records = [];
        parser.lines = [];
      }
    }
    parser.end();
    if (parser.records.length > 0) yield parser;
  }

  async *#batches(all: readonly Column[], columns: readonly Column[]): AsyncGenerator<Batch> {
    let before = 0;
    for (const input of this.#inputs) {
      for await (const held of this.#read(input)) {
        this.#refuseUnknown(input, held, columns);
        const { records, lines } = held;
        const lead = inputCells(this.#settings, input, records.length);
        const cells = columns.map((column) => cellsOf({ input, column, records, lines, before }));
        before += records.length;
        yield { columns: all, cells: [...lead, ...cells], length: records.length };
      }
    }
  }

  #refuseUnknown(input: RecordInput, { records }: XmlRecords, columns: readonly Column[]): void {
    if (this.#settings.columns.length === 0 || this.#settings.ignore_unknown) return;
    const names = new Set(columns.map(({ name }) => name));
    for (const record of records) {
      for (const path of record.keys()) if (!names.has(path)) throw unknownColumn(input, path, columns);
    }
  }
}

/** The encoding that an XML declaration names (XML 1.0, 4.3.3). UTF-16 can only be told by its byte-order mark. */
function declaredEncoding(head: Buffer): string | undefined {
  const name = /^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["']/.exec(head.toString('latin1'))?.[1];
  return name === undefined || /^(?:utf-?16|ucs|iso-10646-ucs)/i.test(name) ? undefined : name;
}

/** The end of a piece that is not inside a character. */
function pieceEnd(chunk: Buffer, wanted: number): number {
  let end = Math.min(wanted, chunk.length);
  while (end < chunk.length && (chunk[end]! & 0xc0) === 0x80) end--;
  return end;
}

interface Part {
  readonly input: RecordInput;
  readonly column: Column;
  readonly records: readonly XmlRecord[];
  readonly lines: readonly number[];
  readonly before: number;
}

function cellsOf({ input, column, records, lines, before }: Part): Cells {
  const values = records.map((record) => cellOf(record.get(column.name) ?? null, column));
  const cells: Cells = { kind: 'values', values };
  if (column.type === 'text' || column.type === 'json') return cells;
  const spotOf = (r: number) => ({ line: lines[r]!, row: before + r + 1 });
  return retype({ input, column, cells, rows: records.length, spotOf });
}

/** A path that stands more than once somewhere is a json array everywhere, also where it stands once. */
function cellOf(value: string | null | string[], column: Column): Value {
  if (value === null) return null;
  if (column.type === 'json') return JSON.stringify([value].flat());
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

function tooManyColumns(input: RecordInput) {
  return faultIn(input, {
    code: 'RECORDS_TOO_MANY_COLUMNS',
    message: `the records have more than ${mostColumns} different parts`,
    next: 'name the wanted ones with `columns`, or another element with `records`',
  });
}
