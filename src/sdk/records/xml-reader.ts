import { type Batch, type ByteCells, type Cells, cellText, type Value } from '../batch.ts';
import type { Column } from '../column.ts';
import type { Extraction } from '../extraction.ts';
import { placeAmong } from '../places/place.ts';
import { PlaceFinder } from '../places/place-finder.ts';
import { formatsOf } from './column-formats.ts';
import { columnsOf, declaredColumns, maxColumns, tooManyColumns, unknownColumn, warnOfUnmet } from './columns.ts';
import type { RecordInput } from './input.ts';
import { inputCells, keptRecordColumns, withInputColumns } from './input-columns.ts';
import type { RecordOptions } from './options.ts';
import type { RecordReader, SurveyAsk, Surveyed } from './reader.ts';
import { retype } from './retype.ts';
import type { ValueFormat } from './value-format.ts';
import { XmlColumns } from './xml-columns.ts';
import { XmlNames } from './xml-names.ts';
import { XmlPlaces } from './xml-places.ts';
import type { XmlRecord, XmlValue } from './xml-record.ts';
import { withoutPrefixes, XmlValues } from './xml-values.ts';
import { XmlWalk } from './xml-walk.ts';

/** Reads the repeated elements of XML documents twice: first to collect all their paths, then to return the rows. */
export class XmlReader implements RecordReader {
  readonly #settings: RecordOptions;
  readonly #inputs: RecordInput[] = [];
  /** Paths in order of first appearance; the value is true if any record had the path more than once. */
  readonly #paths = new Map<string, boolean>();
  readonly #names = new XmlNames();
  readonly #places = new XmlPlaces();

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
    const { columns } = this.#settings;
    if (columns.length > 0 && !ask.count && !ask.values?.length) return { records: undefined, values: new Map() };
    let records = 0;
    const meet: Meet = (path, isRepeated) => this.#meet(input, path, isRepeated);
    const places = (ask.values ?? []).map((text) => withoutPrefixes(placeAmong(text, this.#settings.records ?? '')));
    const finder = new PlaceFinder(places);
    const values = places.length === 0 ? undefined : new XmlValues(input, finder);
    const last = places.flatMap(({ from, steps }) => (from === 'last_record' ? [steps.join('.')] : []));
    const slotOf = (path: string) => last.indexOf(path);
    const walk = this.#walk(input, { slotOf, width: last.length, meet, values });
    let record: Readonly<Record<string, unknown>> | undefined;
    for await (const _ of walk.rows()) {
      records += walk.scanner.rows;
      if (last.length > 0) record = lastRecordIn(walk, last);
    }
    if (record !== undefined) finder.takeLastRecord(record);
    finder.end();
    return { records, values: finder.values, nearby: (place) => finder.nearby(place) };
  }

  extraction(): Extraction {
    const columns = this.#columns();
    const all = withInputColumns(this.#settings, columns);
    const batches = this.#batches(all, columns);
    if (this.#settings.columns.length > 0) return { columns: all, batches };
    const absent = keptRecordColumns(this.#settings).filter(({ name }) => !this.#paths.has(name));
    return { columns: all, batches, absentColumns: absent.map(({ name }) => name) };
  }

  #meet(input: RecordInput, path: string, isRepeated: boolean): void {
    if (isRepeated) this.#paths.set(path, true);
    else if (!this.#paths.has(path)) this.#paths.set(path, false);
    if (this.#paths.size > maxColumns) throw tooManyParts(input);
  }

  #columns(): readonly Column[] {
    const { columns, types } = this.#settings;
    if (columns.length > 0) return declaredColumns(this.#settings);
    const kept = keptRecordColumns(this.#settings).map((one) => [one.name, one.seen && one.type === 'json'] as const);
    const paths = new Map(kept);
    for (const [path, isRepeated] of this.#paths) paths.set(path, isRepeated || paths.get(path) === true);
    const found = [...paths].map(([name, isRepeated]): Column => ({ name, type: isRepeated ? 'json' : 'text' }));
    return columnsOf(found, { types, strict: false });
  }

  #walk(input: RecordInput, given: XmlPass): XmlWalk {
    const { encoding, blockBytes, records, noRecords } = this.#settings;
    const shared = { names: this.#names, places: this.#places, mayBeEmpty: noRecords === 'empty' };
    return new XmlWalk({ input, encoding, blockBytes, wanted: records, ...shared, ...given });
  }

  async *#batches(all: readonly Column[], columns: readonly Column[]): AsyncGenerator<Batch> {
    const formats = formatsOf(columns, this.#settings);
    let before = 0;
    const met = new Set<number>();
    for (const input of this.#inputs) {
      const owners = new XmlColumns(input, columns);
      const { slotOf } = owners;
      const walk = this.#walk(input, { slotOf, width: columns.length, meet: this.#refusal(input, columns, slotOf) });
      for await (const _ of walk.rows()) {
        const { rows } = walk.scanner;
        const lead = inputCells(this.#settings, input, rows);
        const cells = columns.map((column, slot) => {
          const path = owners.pathOf(slot, column.name);
          return cellsOf({ input, column, format: formats[slot], slot, path, walk, before });
        });
        before += rows;
        yield { columns: all, cells: [...lead, ...cells], length: rows };
      }
      for (const slot of columns.keys()) if (owners.isMet(slot)) met.add(slot);
    }
    if (before > 0) warnOfUnmet(this.#settings, (slot) => met.has(slot));
  }

  /** Returns what to do with each path that may be new after the columns are known. */
  #refusal(input: RecordInput, columns: readonly Column[], slotOf: (path: string) => number): Meet {
    if (this.#settings.columns.length === 0) return () => undefined;
    const isStrict = !this.#settings.ignore_unknown;
    return (path) => {
      if (slotOf(path) < 0 && isStrict) throw unknownColumn(input, path, columns);
    };
  }
}

/** What one pass over a document looks for. */
interface XmlPass {
  readonly width: number;
  readonly slotOf: (path: string) => number;
  readonly meet: Meet;
  readonly values?: XmlValues | undefined;
}

/** The values at these paths in a batch's last record. */
function lastRecordIn(
  { scanner, parsed, width }: XmlWalk,
  paths: readonly string[],
): Readonly<Record<string, unknown>> {
  const { bytes, spans, rows } = scanner;
  const record = parsed.get(rows - 1);
  const valueAt = (path: string, slot: number) =>
    record === undefined
      ? cellText({ kind: 'bytes', bytes, spans, stride: width, slot }, 'text', rows - 1)
      : (record.get(path) ?? null);
  return Object.fromEntries(paths.map((path, slot) => [path, valueAt(path, slot)]));
}

type Meet = (path: string, isRepeated: boolean) => void;

interface Part {
  readonly input: RecordInput;
  readonly column: Column;
  readonly format: ValueFormat | undefined;
  readonly slot: number;
  /** The path that provides the column's values. */
  readonly path: string;
  readonly walk: XmlWalk;
  readonly before: number;
}

function cellsOf({ input, column, format, slot, path, walk, before }: Part): Cells {
  const { bytes, spans, rows } = walk.scanner;
  const plain: ByteCells = { kind: 'bytes', bytes, spans, stride: walk.width, slot };
  const isPlain = walk.parsed.size === 0 && column.type !== 'json';
  const cells = isPlain ? plain : valuesOf(plain, walk.parsed, { column, path }, rows);
  if (column.type === 'text' || column.type === 'json') return cells;
  const { lines } = walk.scanner;
  const spotOf = (r: number) => ({ line: lines[r]!, row: before + r + 1 });
  return retype({ input, column, format, cells, rows, spotOf });
}

/** The cells as values, for a batch with records that the parser read. */
function valuesOf(
  plain: ByteCells,
  parsed: ReadonlyMap<number, XmlRecord>,
  { column, path }: Pick<Part, 'column' | 'path'>,
  rows: number,
): Cells {
  const values = Array.from({ length: rows }, (_, r) => {
    const record = parsed.get(r);
    const value = record === undefined ? cellText(plain, 'text', r) : (record.get(path) ?? null);
    return cellOf(value, column);
  });
  return { kind: 'values', values };
}

/** If any record has a path more than once, its values are JSON arrays in all records. */
function cellOf(value: XmlValue, column: Column): Value {
  if (value === null) return null;
  if (column.type === 'json') return JSON.stringify([value].flat());
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function tooManyParts(input: RecordInput) {
  return tooManyColumns(input, {
    message: `the records have more than ${maxColumns} different elements and attributes`,
    next: 'list the required columns in `columns`, or set `records` to another element',
  });
}
