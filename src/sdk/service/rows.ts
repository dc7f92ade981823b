import type { Batch, Cells, Value } from '../batch.ts';
import type { Column } from '../column.ts';
import { retype } from '../records/retype.ts';
import type { ColumnData, Columns } from './column-data.ts';
import type { Fields } from './description.ts';
import { textOf } from './exact-json.ts';
import { type DateFormat, Moment, readMoment } from './moment.ts';
import { stepsOf, valueAt } from './path.ts';
import { alienRecord } from './service-problems.ts';
import type { Scope } from './template.ts';

/** Columns that are declared one by one. */
export type ColumnMap = Exclude<Columns, string | { readonly request: unknown } | ((scope: Scope) => unknown)>;

/** Turns records into batches of declared columns. */
export class RowMaker {
  readonly columns: readonly Column[];
  readonly #plans: readonly (ColumnData & { readonly name: string })[];
  readonly #input: { readonly name: string; open(): AsyncIterable<Uint8Array> };
  readonly #title: string;
  readonly #zone: string;
  /** Columns whose values come from the records, and the first step of each column's path. */
  readonly #own: readonly { readonly name: string; readonly step: string }[];
  /** Columns that no record so far has had. */
  readonly #unmet: Set<string>;
  #rows = 0;

  constructor(map: ColumnMap, given: { readonly title: string; readonly zone: string }) {
    this.#plans = Object.entries(map).map(([name, data]) => ({
      name,
      ...(typeof data === 'string' ? { type: data } : data),
    }));
    this.columns = this.#plans.map(({ name, type }) => ({ name, type }));
    const own = this.#plans.filter(({ scope, at }) => scope === undefined && at !== '');
    this.#own = own.map(({ name, at }) => ({ name, step: stepsOf(at ?? name)[0]! }));
    this.#unmet = new Set(own.map(({ name }) => name));
    this.#title = given.title;
    this.#input = { name: given.title, open: () => (async function* () {})() };
    this.#zone = given.zone;
  }

  /** Whether there were records, but none of them had this column. */
  isUnmet(name: string): boolean {
    return this.#rows > 0 && this.#unmet.has(name);
  }

  /**
   * @throws Problem if a record has fields, but none of the columns, because it's then an error or a different kind of
   * record.
   */
  batch(records: readonly Fields[], scope: Scope): Batch {
    const alien = records.find((record) => this.#isAlien(record));
    if (alien !== undefined) throw alienRecord(this.#title, alien);
    const cells = this.#plans.map((plan, c) => this.#cells(plan, { records, scope, column: this.columns[c]! }));
    this.#rows += records.length;
    return { columns: this.columns, cells, length: records.length };
  }

  #isAlien(record: Fields): boolean {
    const isKnown = ({ name, step }: { name: string; step: string }) =>
      Object.hasOwn(record, step) || Object.hasOwn(record, name);
    return this.#own.length > 0 && Object.keys(record).length > 0 && !this.#own.some(isKnown);
  }

  #cells(
    { name, at, scope: from, date, zone = this.#zone }: ColumnData & { readonly name: string },
    { records, scope, column }: { records: readonly Fields[]; scope: Scope; column: Column },
  ): Cells {
    const fixed = from === undefined ? undefined : valueAt(scope, from);
    const isMet = this.#unmet.has(name) && records.some((record) => found(record, name, at) !== undefined);
    if (isMet) this.#unmet.delete(name);
    const values = records.map((record) => {
      const value = from === undefined ? found(record, name, at) : fixed;
      return cellOf(value, column, date === undefined ? undefined : { date, zone });
    });
    const cells: Cells = { kind: 'values', values };
    if (column.type === 'text' || column.type === 'json') return cells;
    const before = this.#rows;
    return retype({
      input: this.#input,
      column,
      cells,
      rows: records.length,
      spotOf: (r) => ({ row: before + r + 1 }),
    });
  }
}

/** A column name that contains a dot may be a key or a path. */
function found(record: Fields, name: string, at: ColumnData['at']): unknown {
  if (at !== undefined) return valueAt(record, at);
  return Object.hasOwn(record, name) ? record[name] : valueAt(record, name);
}

function cellOf(value: unknown, { type }: Column, dated: { date: DateFormat; zone: string } | undefined): Value {
  if (value === undefined || value === null) return null;
  if (value instanceof Moment) return value.text(type === 'date' ? 'date' : undefined);
  if (type === 'json') return JSON.stringify(value);
  const text = textOf(value)!;
  if (dated === undefined || text === '') return text;
  const moment = readMoment(text, dated.zone, dated.date);
  if (moment === undefined) return text;
  if (type === 'date') return moment.text('date');
  return type === 'timestamp' ? moment.text('local') : moment.text('iso');
}
