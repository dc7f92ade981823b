import { maxColumns } from './columns.ts';
import { faultIn, type RecordInput } from './input.ts';
import { type Sheet, unescaped } from './xlsx-book.ts';
import { walk } from './xlsx-parts.ts';
import { isoCell, numberCell, type SheetCell } from './xlsx-values.ts';

/** A row with at least one value. Cells without a value are holes or undefined. */
export interface SheetRow {
  /** Row number in the sheet, from 1. */
  readonly number: number;
  readonly cells: readonly (SheetCell | undefined)[];
}

/** Yields the rows of a sheet in chunks while the sheet is being read. */
export async function* sheetRows(input: RecordInput, sheet: Sheet): AsyncGenerator<SheetRow[]> {
  const rows = new Rows(input, sheet);
  for await (const _ of walk(input, sheet.part, rows)) {
    if (rows.done.length > 0) yield rows.done.splice(0);
  }
  if (rows.done.length > 0) yield rows.done;
}

class Rows {
  readonly done: SheetRow[] = [];
  readonly #input: RecordInput;
  readonly #sheet: Sheet;
  #number = 0;
  #cells: (SheetCell | undefined)[] = [];
  #column = -1;
  #type = '';
  #style = 0;
  /** The content of the `v` element. */
  #value = '';
  /** The text of the `is` element (an inline string). */
  #inline: string | undefined;
  /** The content of the `f` element. */
  #formula: string | undefined;

  constructor(input: RecordInput, sheet: Sheet) {
    this.#input = input;
    this.#sheet = sheet;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'row') {
      this.#number = attributes.r === undefined ? this.#number + 1 : Number(attributes.r);
      this.#cells = [];
      this.#column = -1;
    } else if (name === 'c') {
      this.#column = attributes.r === undefined ? this.#column + 1 : columnOf(attributes.r);
      this.#type = attributes.t ?? 'n';
      this.#style = Number(attributes.s ?? 0);
      this.#value = '';
      this.#inline = undefined;
      this.#formula = undefined;
      if (!(this.#column < maxColumns)) throw this.#fault(`a cell has an invalid position (${attributes.r})`);
    }
  }

  close(name: string, text: string, parent: string): void {
    if (name === 'v' && parent === 'c') this.#value = text;
    else if (name === 't' && (parent === 'is' || parent === 'r')) this.#inline = (this.#inline ?? '') + text;
    else if (name === 'f' && parent === 'c') this.#formula = text;
    else if (name === 'c') this.#keep(this.#cell());
    else if (name === 'row' && this.#cells.length > 0) this.done.push({ number: this.#number, cells: this.#cells });
  }

  /**
   * Leaves cells without a value (for example, empty colored cells) as holes, so that a row ends with its last value.
   */
  #keep(cell: SheetCell | undefined): void {
    if (cell !== undefined) this.#cells[this.#column] = cell;
  }

  /**
   * Cell types according to ECMA-376 part 1, 18.18.11. If a cell has an inline string, its `v` element is only a copy
   * of the displayed text.
   */
  #cell(): SheetCell | undefined {
    const value = this.#value;
    if (this.#inline !== undefined && (this.#type === 'inlineStr' || value === '')) {
      return this.#text(unescaped(this.#inline));
    }
    const { texts, styles, from1904 } = this.#sheet;
    if (value === '') return this.#withoutValue();
    if (this.#type === 'n') return numberCell(value, styles[this.#style] ?? 'number', from1904);
    if (this.#type === 's') return this.#text(texts[Number(value)]);
    if (this.#type === 'b') return { kind: 'boolean', text: value === '1' || value === 'true' ? 'true' : 'false' };
    if (this.#type === 'e') return { kind: 'error', text: value };
    return this.#type === 'd' ? isoCell(value) : this.#text(unescaped(value));
  }

  /** A formula's result can be an empty string. If a formula has no value at all, it was never calculated. */
  #withoutValue(): SheetCell | undefined {
    if (this.#formula === undefined || this.#type === 'str') return undefined;
    return { kind: 'uncalculated', text: `=${this.#formula}` };
  }

  #text(text: string | undefined): SheetCell | undefined {
    if (text === undefined) throw this.#fault('a cell refers to a string that is not in the workbook');
    return text === '' ? undefined : { kind: 'text', text };
  }

  #fault(message: string) {
    return faultIn(this.#input, { code: 'RECORDS_XLSX', message, spot: { line: this.#number } });
  }
}

/** For example, `C7` is column 2. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference) {
    const value = letter.charCodeAt(0) - 64;
    if (value < 1 || value > 26) break;
    column = column * 26 + value;
  }
  return column === 0 ? Number.NaN : column - 1;
}
