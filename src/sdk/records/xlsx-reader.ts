import { countOf } from '../../lib/count-text.ts';
import type { Batch, Value } from '../batch.ts';
import { type Column, type ColumnType, commonType } from '../column.ts';
import type { Extraction } from '../extraction.ts';
import { formatsOf } from './column-formats.ts';
import { columnsOf, declaredColumns, missingColumn, unknownColumn } from './columns.ts';
import { namesOf } from './csv-header.ts';
import { faultIn, type InputPosition, type RecordInput, shorten } from './input.ts';
import { inputCells, keptRecordColumns, withInputColumns } from './input-columns.ts';
import type { RecordOptions } from './options.ts';
import type { RecordReader, SurveyAsk, Surveyed } from './reader.ts';
import { retype } from './retype.ts';
import { familyOf, type ValueFormat } from './value-format.ts';
import { openSheet, type Sheet } from './xlsx-book.ts';
import { type SheetRow, sheetRows } from './xlsx-rows.ts';
import { type CellKind, joined, type SheetCell } from './xlsx-values.ts';

interface Errors {
  readonly first: string;
  readonly line: number;
  count: number;
}

interface Table {
  readonly input: RecordInput;
  readonly sheet: Sheet;
  readonly names: readonly string[];
}

/** Reads one sheet of each workbook twice: first to determine the kinds of its columns, then to return its rows. */
export class XlsxReader implements RecordReader {
  readonly #settings: RecordOptions;
  readonly #tables: Table[] = [];
  readonly #kinds = new Map<string, CellKind>();
  /** Error cells of the current input, by column. */
  readonly #errors = new Map<string, Errors>();

  constructor(settings: RecordOptions) {
    this.#settings = settings;
  }

  async survey(input: RecordInput, { check }: SurveyAsk = {}): Promise<Surveyed> {
    const sheet = await openSheet(input, this.#settings.sheet);
    let records = 0;
    let names: string[] | undefined;
    for await (const rows of this.#rows(input, sheet)) {
      for (const row of rows) {
        if (names === undefined) {
          names = this.#namesOf(input, row);
          if (this.#settings.header) continue;
        }
        this.#meet(input, names, row);
        records += 1;
      }
    }
    this.#warnOfErrors(input);
    if (names === undefined && this.#settings.header) throw noHeader(input, sheet);
    const found = { records, values: new Map() };
    check?.(found);
    this.#tables.push({ input, sheet, names: names ?? [] });
    this.#accept(input, names ?? []);
    return found;
  }

  extraction(): Extraction {
    const { columns: declared, types } = this.#settings;
    const names = new Set(this.#tables.flatMap((table) => table.names));
    const kept = new Map(
      keptRecordColumns(this.#settings).flatMap(({ name, type, seen }) => (seen ? [[name, type]] : [])),
    );
    const found = [...names].map((name): Column => ({ name, type: typeWith(kept.get(name), this.#kinds.get(name)) }));
    const columns =
      declared.length > 0
        ? declaredColumns(this.#settings)
        : columnsOf(found, { types, strict: this.#settings.header });
    const all = withInputColumns(this.#settings, columns);
    const batches = this.#batches(all, columns);
    return declared.length > 0 ? { columns: all, batches } : { columns: all, batches, absentColumns: [] };
  }

  async *#rows(input: RecordInput, sheet: Sheet): AsyncGenerator<SheetRow[]> {
    const { skip_rows: skipped } = this.#settings;
    for await (const rows of sheetRows(input, sheet)) yield rows.filter(({ number }) => number > skipped);
  }

  #namesOf(input: RecordInput, { cells, number }: SheetRow): string[] {
    const { header, columns } = this.#settings;
    if (!header && columns.length > 0) return columns.map(({ name }) => name);
    const formula = header ? cells.find((cell) => cell?.kind === 'uncalculated') : undefined;
    if (formula !== undefined) throw uncalculated(input, { line: number }, formula.text);
    return namesOf(input, { texts: Array.from(cells, (cell) => cell?.text ?? null), line: number }, header);
  }

  /**
   * Merges the kinds of a row's cells into their columns' kinds. If the sheet has no header, a longer row adds columns.
   */
  #meet(input: RecordInput, names: string[], { cells, number }: SheetRow): void {
    const { header, columns } = this.#settings;
    if (!header && columns.length === 0) while (names.length < cells.length) names.push(`column${names.length + 1}`);
    if (cells.length > names.length && cells.slice(names.length).some((cell) => cell !== undefined)) {
      throw beyond(input, number, names.length);
    }
    for (const [c, name] of names.entries()) {
      const cell = cells[c];
      if (cell === undefined || !this.#isWanted(name)) continue;
      if (cell.kind === 'uncalculated') throw uncalculated(input, { line: number, column: name }, cell.text);
      if (cell.kind === 'error') {
        this.#countError(name, number, cell.text);
        continue;
      }
      const before = this.#kinds.get(name);
      this.#kinds.set(name, before === undefined ? cell.kind : joined(before, cell.kind));
    }
  }

  #isWanted(name: string): boolean {
    const { columns } = this.#settings;
    return columns.length === 0 || columns.some((column) => column.name === name);
  }

  #countError(column: string, line: number, text: string): void {
    const known = this.#errors.get(column);
    if (known === undefined) this.#errors.set(column, { first: text, line, count: 1 });
    else known.count++;
  }

  #warnOfErrors(input: RecordInput): void {
    for (const [column, { first, line, count }] of this.#errors) {
      this.#settings.warn?.({
        code: 'RECORDS_XLSX_ERRORS',
        message: `${input.name}: ${countOf(count, 'cell')} with an Excel error in column ${JSON.stringify(column)} became null`,
        seen: `${first} in row ${line}`,
        next: 'if null is not the intended value, fix the formulas in the column',
      });
    }
    this.#errors.clear();
  }

  /** All workbooks must have the same columns, in any order, unless the job selects columns. */
  #accept(input: RecordInput, names: readonly string[]): void {
    const { columns, header, ignore_unknown } = this.#settings;
    if (columns.length > 0 && header) {
      const missing = columns.find(({ name }) => !names.includes(name));
      if (missing !== undefined) throw missingColumn(input, missing.name, names);
      const unknown = names.find((name) => !columns.some((column) => column.name === name));
      if (unknown !== undefined && !ignore_unknown)
        throw unknownColumn(input, unknown, declaredColumns(this.#settings));
    }
    const first = this.#tables[0]!;
    if (columns.length > 0 || !header || new Set([...first.names, ...names]).size === names.length) return;
    throw faultIn(input, {
      code: 'CSV_COLUMNS_DIFFER',
      message: `the columns differ from those of ${first.input.name}`,
      seen: names.join(', '),
      allowed: first.names.join(', '),
      next: 'read files with different columns in a separate job, or list the required columns in `columns`',
    });
  }

  async *#batches(all: readonly Column[], columns: readonly Column[]): AsyncGenerator<Batch> {
    const formats = formatsOf(columns, this.#settings);
    for (const { input, sheet, names } of this.#tables) {
      let isFirst = this.#settings.header;
      const slots = columns.map(({ name }) => names.indexOf(name));
      for await (const rows of this.#rows(input, sheet)) {
        const held = isFirst ? rows.slice(1) : rows;
        if (rows.length > 0) isFirst = false;
        if (held.length === 0) continue;
        const cells = columns.map((column, c) =>
          columnCells({ input, column, format: formats[c], rows: held, slot: slots[c]! }),
        );
        const lead = inputCells(this.#settings, input, held.length);
        yield { columns: all, cells: [...lead, ...cells], length: held.length };
      }
    }
  }
}

/**
 * The type of cells of one kind in a column that kept rows have. Kept dates don't become timestamps, because their texts
 * can't change.
 */
function typeWith(kept: ColumnType | undefined, kind: CellKind | undefined): ColumnType {
  if (kept === undefined || kind === undefined) return kept ?? kind ?? 'text';
  return kept === 'timestamp' && kind === 'date' ? kept : commonType(kept, kind);
}

interface ColumnOf {
  readonly input: RecordInput;
  readonly column: Column;
  readonly format: ValueFormat | undefined;
  readonly rows: readonly SheetRow[];
  readonly slot: number;
}

function columnCells({ input, column, format, rows, slot }: ColumnOf) {
  const values = rows.map(({ cells }): Value => textAs(cells[slot], column.type));
  const cells = { kind: 'values', values } as const;
  if (column.type === 'text') return cells;
  const isNative = (r: number) => isNativeKind(rows[r]!.cells[slot]?.kind, column.type);
  const spotOf = (r: number) => ({ line: rows[r]!.number });
  return retype({ input, column, format, isNative, cells, rows: rows.length, spotOf });
}

/**
 * Declared formats don't apply to a sheet's numbers and dates, unless the column has a type of another family, such as
 * a date column with the number 20260131.
 */
function isNativeKind(kind: SheetCell['kind'] | undefined, type: ColumnType): boolean {
  if (kind === 'integer' || kind === 'decimal') return familyOf(type) === 'number';
  return kind === 'date' || kind === 'time' || kind === 'timestamp';
}

function textAs(cell: SheetCell | undefined, type: ColumnType): string | null {
  if (cell === undefined || cell.kind === 'error') return null;
  return cell.kind === 'date' && type === 'timestamp' ? `${cell.text}T00:00:00` : cell.text;
}

function noHeader(input: RecordInput, { name }: Sheet) {
  return faultIn(input, {
    code: 'CSV_HEADER',
    message: `sheet ${JSON.stringify(name)} has no row with column names`,
    next: 'set `sheet` to another sheet, or set `header: false` if an empty table is correct',
  });
}

function uncalculated(input: RecordInput, spot: InputPosition, formula: string) {
  return faultIn(input, {
    code: 'RECORDS_XLSX_FORMULA',
    message: 'a formula has no value: the program that wrote the workbook did not calculate it',
    spot,
    seen: shorten(formula),
    next: 'open and save the workbook in Excel or LibreOffice, replace the formulas with values, or omit the column with `columns` and `ignore_unknown: true`',
  });
}

function beyond(input: RecordInput, line: number, width: number) {
  return faultIn(input, {
    code: 'CSV_RAGGED',
    message: `a cell is to the right of the ${width} named columns`,
    spot: { line },
    next: 'give the column a name, clear the cell, or skip the rows above the table with `skip_rows`',
  });
}
