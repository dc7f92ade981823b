import { type Batch, type Cells, cellText } from '../batch.ts';
import type { Column } from '../column.ts';
import type { Extraction } from '../extraction.ts';
import { placeAmong } from '../places/place.ts';
import { PlaceFinder } from '../places/place-finder.ts';
import { formatsOf } from './column-formats.ts';
import { columnsOf, declaredColumns, missingColumn, unknownColumn } from './columns.ts';
import { type CsvTable, openCsv, type RawRows } from './csv-table.ts';
import { faultIn, type RecordInput } from './input.ts';
import { inputCells, withInputColumns } from './input-columns.ts';
import type { RecordOptions } from './options.ts';
import type { RecordReader, SurveyAsk, Surveyed } from './reader.ts';
import { retype } from './retype.ts';
import type { ValueFormat } from './value-format.ts';

/** Larger than any batch. */
const maxRows = 4096;

/** Reads CSV documents that have the same columns, in any order. */
export class CsvReader implements RecordReader {
  readonly #settings: RecordOptions;
  readonly #inputs: RecordInput[] = [];
  #names: readonly string[] | undefined;

  constructor(settings: RecordOptions) {
    this.#settings = settings;
  }

  async survey(input: RecordInput, ask: SurveyAsk = {}): Promise<Surveyed> {
    const found = await this.#look(input, ask);
    ask.check?.(found);
    this.#inputs.push(input);
    return found;
  }

  async #look(input: RecordInput, ask: SurveyAsk): Promise<Surveyed> {
    const table = await openCsv(input, this.#settings);
    try {
      this.#accept(input, table);
      if (!ask.count) return { records: undefined, values: new Map() };
      const finder = new PlaceFinder((ask.values ?? []).map((text) => placeAmong(text, '')));
      let records = 0;
      let last: Readonly<Record<string, unknown>> | undefined;
      for await (const batch of table.rows) {
        records += batch.rows;
        if (finder.wantsLastRecord && batch.rows > 0) last = recordIn(batch, table.names);
      }
      if (last !== undefined) finder.takeLastRecord(last);
      return { records, values: finder.values, nearby: () => `the records contain ${table.names.join(', ')}` };
    } finally {
      await table.close();
    }
  }

  extraction(): Extraction {
    const columns = this.#columns();
    const all = withInputColumns(this.#settings, columns);
    return { columns: all, batches: this.#batches(all, columns) };
  }

  #columns(): readonly Column[] {
    const names = this.#names ?? [];
    const { columns, types, header } = this.#settings;
    if (columns.length > 0) return declaredColumns(this.#settings);
    return columnsOf(
      names.map((name) => ({ name, type: 'text' })),
      { types, strict: header || names.length > 0 },
    );
  }

  /** The first input's columns apply to all inputs; an input with a different order is rearranged to match. */
  #accept(input: RecordInput, { names, line }: CsvTable): void {
    this.#declare(input, names, line);
    if (this.#names === undefined || this.#names.length === 0) this.#names = names;
    const { columns, header } = this.#settings;
    if (columns.length > 0 || (names.length === 0 && !header)) return;
    const known = new Set(this.#names);
    if (names.length === known.size && names.every((name) => known.has(name))) return;
    throw faultIn(input, {
      code: 'CSV_COLUMNS_DIFFER',
      message: `the columns differ from those of ${this.#inputs[0]!.name}`,
      spot: { line },
      seen: names.join(', '),
      allowed: [...known].join(', '),
      next: 'read files with different columns in a separate job, or list the required columns in `columns`',
    });
  }

  #declare(input: RecordInput, names: readonly string[], line: number): void {
    const { columns, header, ignore_unknown } = this.#settings;
    if (columns.length === 0) return;
    if (header) {
      const missing = columns.find(({ name }) => !names.includes(name));
      if (missing !== undefined) throw missingColumn(input, missing.name, names);
      const unknown = names.find((name) => !columns.some((column) => column.name === name));
      if (unknown !== undefined && !ignore_unknown)
        throw unknownColumn(input, unknown, declaredColumns(this.#settings));
    } else if (names.length !== 0 && names.length !== columns.length) {
      throw faultIn(input, {
        code: 'CSV_RAGGED',
        message: `a row has ${names.length} cells, but \`columns\` has ${columns.length}`,
        spot: { line },
      });
    }
  }

  async *#batches(all: readonly Column[], columns: readonly Column[]): AsyncGenerator<Batch> {
    const formats = formatsOf(columns, this.#settings);
    for (const input of this.#inputs) {
      const table = await openCsv(input, this.#settings);
      try {
        const slots = columns.map(({ name }, c) => this.#slotOf(table.names, name, c));
        const lead = inputCells(this.#settings, input, maxRows);
        for await (const raw of table.rows) {
          const cells: Cells[] = [...lead];
          columns.forEach((column, c) => {
            cells.push(typedCells({ input, raw, column, format: formats[c], slot: slots[c]! }));
          });
          yield { columns: all, cells, length: raw.rows };
        }
      } finally {
        await table.close();
      }
    }
  }

  #slotOf(names: readonly string[], name: string, position: number): number {
    return this.#settings.header ? names.indexOf(name) : position;
  }
}

interface Slot {
  readonly input: RecordInput;
  readonly raw: RawRows;
  readonly column: Column;
  readonly format: ValueFormat | undefined;
  readonly slot: number;
}

function typedCells({ input, raw, column, format, slot }: Slot): Cells {
  const cells = raw.cells(slot);
  if (column.type === 'text') return cells;
  return retype({ input, column, format, cells, rows: raw.rows, spotOf: (r) => ({ line: raw.lineOf(r) }) });
}

/** The last record of a batch. */
function recordIn(batch: RawRows, names: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.map((name, slot) => [name, cellText(batch.cells(slot), 'text', batch.rows - 1)]));
}
