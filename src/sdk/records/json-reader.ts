import { Problem } from '../../lib/problem.ts';
import { ReplacedCharacters } from '../../lib/replaced-characters.ts';
import type { Batch, ByteCells, Cells } from '../batch.ts';
import type { Column, ColumnType } from '../column.ts';
import type { Extraction } from '../extraction.ts';
import { type Place, placeInJson } from '../places/place.ts';
import { formatsOf } from './column-formats.ts';
import { columnsOf, declaredColumns, maxColumns, tooManyColumns, unknownColumn, warnOfUnmet } from './columns.ts';
import { faultIn, type RecordInput } from './input.ts';
import { inputCells, keptRecordColumns, withInputColumns } from './input-columns.ts';
import { JsonPaths, kind, naturalKinds, type PathNode, prefixes } from './json-paths.ts';
import type { JsonScanner } from './json-scanner.ts';
import { JsonWalk } from './json-walk.ts';
import type { RecordOptions } from './options.ts';
import type { RecordReader, SurveyAsk, Surveyed } from './reader.ts';
import { retype } from './retype.ts';
import { familyOf, type ValueFormat } from './value-format.ts';

const quote = 34;

/** Larger than any batch. */
const maxRows = 4096;

/**
 * Reads json and jsonl. Without `columns`, the data is read twice: once to find all keys and the types that fit all
 * records, and once for the rows. Numbers keep the source's digits.
 */
export class JsonReader implements RecordReader {
  readonly #settings: RecordOptions;
  readonly #inputs: RecordInput[] = [];
  readonly #paths: JsonPaths;
  /** Used only in the pass that produces rows, because the survey has no cells. */
  readonly #replaced = new ReplacedCharacters();
  #surveying: RecordInput | undefined;

  constructor(settings: RecordOptions) {
    this.#settings = settings;
    this.#paths = new JsonPaths(settings.flatten);
    this.#paths.meet = () => {
      if (this.#paths.all().length >= maxColumns) throw tooManyKeys(this.#surveying!);
    };
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
    this.#surveying = input;
    const wanted = (ask.values ?? []).map((place) => placeInJson(place, this.#settings.records ?? ''));
    const walk = this.#walk(input, { paths: this.#paths, width: 0, wanted });
    const { values } = walk.finder;
    const nearby = (place: string) => walk.finder.nearby(place);
    try {
      for await (const _ of walk.rows());
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'RECORDS_NOT_FOUND' || !ask.values?.length) throw error;
      return { records: 0, values, nearby, refused: error };
    }
    return { records: walk.scanner.recordsBefore + walk.scanner.rows, values, nearby, shape: walk.shape };
  }

  extraction(): Extraction {
    const columns = this.#columns();
    const all = withInputColumns(this.#settings, columns);
    const batches = this.#exactly(all, columns);
    if (this.#isDeclared) return { columns: all, batches };
    return { columns: all, batches, absentColumns: this.#paths.absent(keptRecordColumns(this.#settings)) };
  }

  /** Yields the batches. Afterwards, even if reading stops early, warns about replaced characters. */
  async *#exactly(all: readonly Column[], columns: readonly Column[]): AsyncGenerator<Batch> {
    try {
      yield* this.#batches(all, columns);
    } finally {
      for (const warning of this.#replaced.warnings) this.#settings.warn?.(warning);
    }
  }

  #columns(): readonly Column[] {
    const { columns, types } = this.#settings;
    if (columns.length > 0) return declaredColumns(this.#settings);
    return columnsOf(this.#paths.columns(keptRecordColumns(this.#settings)), { types, strict: false });
  }

  #walk(input: RecordInput, given: { paths: JsonPaths; width: number; wanted: readonly Place[] }): JsonWalk {
    const { encoding, allow_nan, blockBytes, records, format } = this.#settings;
    return new JsonWalk({
      input,
      format,
      encoding,
      allow_nan,
      blockBytes,
      records: records ?? '',
      lines: format === 'jsonl',
      isKeyed: this.#settings.key_column !== undefined && given.width > 0,
      replaced: this.#replaced,
      ...given,
    });
  }

  async *#batches(all: readonly Column[], columns: readonly Column[]): AsyncGenerator<Batch> {
    const met = new Set<number>();
    const formats = formatsOf(columns, this.#settings);
    let rows = 0;
    for (const input of this.#inputs) {
      const paths = this.#boundPaths(input, columns, met);
      const walk = this.#walk(input, { paths, width: columns.length, wanted: [] });
      const lead = inputCells(this.#settings, input, maxRows);
      try {
        for await (const _ of walk.rows()) {
          this.#refuseStrayValues(input, paths, columns);
          const cells = columns.map((column, slot) =>
            typedCells({ input, scanner: walk.scanner, column, format: formats[slot], slot }),
          );
          rows += walk.scanner.rows;
          const keys = this.#settings.key_column === undefined ? [] : [valueCells(walk.keys)];
          yield { columns: all, cells: [...lead, ...keys, ...cells], length: walk.scanner.rows };
        }
      } finally {
        for (const [name, lone] of paths.replacedNames()) this.#replaced.addName(name, lone);
      }
    }
    if (rows > 0) warnOfUnmet(this.#settings, (slot) => met.has(slot));
  }

  get #isDeclared(): boolean {
    return this.#settings.columns.length > 0;
  }

  /** Paths for one input, where each path gets its cell index when it's first seen. */
  #boundPaths(input: RecordInput, columns: readonly Column[], met: Set<number>): JsonPaths {
    const slots = new Map(columns.map(({ name }, slot) => [name, slot]));
    const expected = new Set(this.#isDeclared ? columns.flatMap(prefixes) : this.#paths.all().map(({ path }) => path));
    const paths = new JsonPaths(this.#settings.flatten);
    paths.meet = (node) => {
      const slot = slots.get(node.path);
      if (slot === undefined && !expected.has(node.path)) return this.#stray(input, node, columns);
      if (slot !== undefined) {
        place(node, slot, columns[slot]!.type);
        met.add(slot);
      }
      if (this.#isDeclared && !expected.has(node.path)) node.descend = false;
    };
    return paths;
  }

  #stray(input: RecordInput, node: PathNode, columns: readonly Column[]): void {
    if (!this.#isDeclared) throw changed(input, node.path);
    if (!this.#settings.ignore_unknown) throw unknownColumn(input, node.path, columns);
    node.descend = false;
  }

  /** Refuses a scalar value at a path where `columns` expects an object, because the value would be lost. */
  #refuseStrayValues(input: RecordInput, paths: JsonPaths, columns: readonly Column[]): void {
    if (!this.#isDeclared || this.#settings.ignore_unknown) return;
    const stray = paths.all().find((node) => node.slot < 0 && (node.seen & ~(kind.null | kind.empty)) !== 0);
    if (stray !== undefined) throw unknownColumn(input, stray.path, columns);
  }
}

function place(node: PathNode, slot: number, type: ColumnType): void {
  node.slot = slot;
  node.raw = type === 'json';
  node.natural = naturalKinds[type];
}

function valueCells(values: readonly (string | null)[]): Cells {
  return { kind: 'values', values: values.slice() };
}

interface Slot {
  readonly input: RecordInput;
  readonly scanner: JsonScanner;
  readonly column: Column;
  readonly format: ValueFormat | undefined;
  readonly slot: number;
}

function typedCells({ input, scanner, column, format, slot }: Slot): Cells {
  const { bytes, spans, dirty, rows, recordsBefore } = scanner;
  const cells: ByteCells = { kind: 'bytes', bytes, spans, stride: dirty.length, slot };
  if (dirty[slot] === 0) return cells;
  // Declared formats apply only to strings: a JSON number is a number, whatever the column's format.
  const isNumber = familyOf(column.type) === 'number';
  const isNative = (r: number) => isNumber && bytes[spans[2 * (r * dirty.length + slot)]! - 1] !== quote;
  return retype({ input, column, format, isNative, cells, rows, spotOf: (r) => ({ row: recordsBefore + r + 1 }) });
}

function tooManyKeys(input: RecordInput) {
  return tooManyColumns(input, {
    message: `the records have more than ${maxColumns} different keys`,
    next: 'if the keys of objects are data, keep the objects as json with `flatten: 0`, or list the required columns in `columns`',
  });
}

function changed(input: RecordInput, path: string) {
  return faultIn(input, {
    code: 'RECORDS_CHANGED',
    message: `${JSON.stringify(path)} did not exist when the data was first read: the data has changed in the meantime`,
    next: 'run the job again',
  });
}
