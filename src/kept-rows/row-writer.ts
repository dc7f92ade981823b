import { Problem } from '../lib/problem.ts';
import { loneSurrogates, ReplacedCharacters } from '../lib/replaced-characters.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import { type Batch, type Cells, cellText, storedRow, valueText } from '../sdk/batch.ts';
import type { Column, KeptColumn } from '../sdk/column.ts';
import type { Arena } from './arena.ts';
import { namedColumn, otherType } from './kept-columns.ts';
import { keyOrdering, type Ordering, orderedSize, versionOrdering } from './ordering.ts';
import { cellHeadBytes, headBytes, maxKeyBytes, maxVersionBytes, writeCellHead, writeHead } from './record.ts';

export interface RowWriterOptions {
  readonly columns: readonly KeptColumn[];
  /** Index of each kept column in the run. */
  readonly from: readonly number[];
  /** Columns of the run. */
  readonly come: readonly Column[];
  /** Key columns. If there are none, every row is new, and rows are numbered from `next`. */
  readonly key: readonly string[];
  readonly next: number;
  readonly deleted?: string;
  /** Whether the run's columns were found in its records, so that optional ones may be missing. */
  readonly areFound: boolean;
  /** The source's cursor column: of two rows with the same key, the one with the higher value wins. */
  readonly cursor?: string;
}

/** Converts rows of batches to records. */
export class RowWriter {
  readonly #given: RowWriterOptions;
  /** Resolved with the first row. */
  #key: readonly Ordering[] = [];
  readonly #version: Ordering | undefined;
  /** Index of the column that marks deletions; -1 if there is none. Resolved with the first row. */
  #deleted = -1;
  /** The row's value cells as strings. */
  readonly #texts: (string | null)[] = [];
  readonly hasValue: boolean[];
  /** Characters that were replaced because kept rows are stored as UTF-8. */
  readonly #replaced = new ReplacedCharacters();
  #rows = 0;

  constructor(given: RowWriterOptions) {
    const { columns, come, cursor } = given;
    this.#given = given;
    this.#version = versionOrdering(cursor, come);
    this.hasValue = columns.map(() => false);
  }

  /** The next row's number, if rows are numbered. */
  get next(): number {
    return this.#given.next + this.#rows;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Warnings about all rows: replaced characters, and a deletion mark that no record has. */
  get warnings(): RunWarning[] {
    const { deleted, come } = this.#given;
    const isUnknown = this.#rows > 0 && deleted !== undefined && this.#deleted < 0;
    return [...this.#replaced.warnings, ...(isUnknown ? [noMark(deleted, come)] : [])];
  }

  /** Converts row `i` of the batch to a record. Throws a Problem (family `row`) if the key is null or too long. */
  write(batch: Batch, i: number, arena: Arena): void {
    if (this.#rows === 0) this.#begin();
    const r = storedRow(batch, i);
    arena.reserve(this.#maxBytes(batch, r));
    const { buffer, used } = arena;
    let at = used + headBytes;
    at = this.#key.length === 0 ? this.#writeNumber(buffer, at) : this.#writeKey(batch, r, { buffer, at });
    const key = at - used - headBytes;
    at = this.#writeVersion(batch, r, { buffer, at });
    const version = at - used - headBytes - key;
    if (key > maxKeyBytes || version > maxVersionBytes) throw this.#tooLong(key);
    for (let c = 0; c < this.#given.columns.length; c++) at = this.#writeCell(batch, c, { r, buffer, at });
    writeHead(buffer, used, { size: at - used, key, version, isDeletion: this.#isDeleted(batch, r) });
    arena.added(at - used);
    this.#rows += 1;
  }

  /**
   * Finds the columns that the rule names. This waits for a row, because a source that finds its columns in its records
   * has none of these if there are no records.
   */
  #begin(): void {
    const { columns, come, key, deleted, areFound } = this.#given;
    this.#key = key.map((name) => keyOrdering(name, { columns, come }));
    if (deleted !== undefined && areFound) this.#deleted = come.findIndex(({ name }) => name === deleted);
    else if (deleted !== undefined) this.#deleted = namedColumn(come, deleted, 'deleted');
    this.#refuseOtherTypes();
  }

  /**
   * Throws if a key or version column has a different type than in the kept rows. Values of different types can't be
   * compared, even if one type could represent both. Checked with the first row, because an empty result's types are
   * meaningless (SQLite derives them from values).
   */
  #refuseOtherTypes(): void {
    const { columns, come, cursor } = this.#given;
    for (const { name, type, at } of this.#key) {
      const other = come[at]!.type;
      if (type !== other && !(type === 'decimal' && other === 'integer')) throw otherType(name, { type, other });
    }
    const known = columns.find(({ name, seen }) => name === cursor && seen);
    const version = come.find(({ name }) => name === cursor);
    if (version === undefined || known === undefined || known.type === version.type) return;
    throw otherType(version.name, { type: known.type, other: version.type });
  }

  #writeNumber(buffer: Buffer, at: number): number {
    const number = this.next;
    buffer.writeUInt32BE(Math.floor(number / 0x100000000), at);
    buffer.writeUInt32BE(number % 0x100000000, at + 4);
    return at + 8;
  }

  #writeKey(batch: Batch, r: number, { buffer, at }: { buffer: Buffer; at: number }): number {
    for (const ordering of this.#key) {
      const end = this.#writeOrdered(batch, ordering, { r, buffer, at });
      if (end === at) throw this.#nullKey(ordering.name);
      at = end;
    }
    return at;
  }

  #writeVersion(batch: Batch, r: number, { buffer, at }: { buffer: Buffer; at: number }): number {
    const version = this.#version;
    return version === undefined ? at : this.#writeOrdered(batch, version, { r, buffer, at });
  }

  /** Writes a value as sortable bytes. Returns the end of the bytes, or `at` for null. */
  #writeOrdered(batch: Batch, ordering: Ordering, to: { r: number; buffer: Buffer; at: number }): number {
    const { r, buffer, at } = to;
    const cells = batch.cells[ordering.at]!;
    if (cells.kind === 'bytes' && ordering.copies) {
      const span = 2 * (r * cells.stride + cells.slot);
      const [start, end] = [cells.spans[span]!, cells.spans[span + 1]!];
      if (start < 0) return at;
      const isInstant = ordering.type === 'timestamptz';
      if (!isInstant || cells.bytes[end - 1] === utcMark) {
        const last = copyBytes(cells.bytes, { start, end: end - (isInstant ? 1 : 0) }, to);
        buffer[last] = 0;
        buffer[last + 1] = 0;
        return last + 2;
      }
    }
    const text = cellText(cells, batch.columns[ordering.at]!.type, r);
    return text === null ? at : this.#placed(ordering.name, () => ordering.write(text, buffer, at));
  }

  #writeCell(batch: Batch, c: number, { r, buffer, at }: { r: number; buffer: Buffer; at: number }): number {
    const from = this.#given.from[c]!;
    const cells: Cells | undefined = batch.cells[from];
    if (cells?.kind === 'bytes') {
      const span = 2 * (r * cells.stride + cells.slot);
      const start = cells.spans[span]!;
      if (start >= 0) {
        const end = cells.spans[span + 1]!;
        this.hasValue[c] = true;
        at = writeCellHead(buffer, at, end - start);
        return copyBytes(cells.bytes, { start, end }, { buffer, at });
      }
    }
    const text = cells?.kind === 'values' ? this.#texts[from]! : null;
    if (text === null) {
      buffer[at] = 0;
      return at + 1;
    }
    this.hasValue[c] = true;
    const lone = loneSurrogates(text);
    this.#replaced.add(lone.length, () => {
      return { codePoint: lone[0]!.charCodeAt(0), row: this.#rows + 1, column: this.#given.columns[c]!.name };
    });
    const bytes = Buffer.byteLength(text);
    at = writeCellHead(buffer, at, bytes);
    return at + buffer.write(text, at, 'utf8');
  }

  /** An upper bound for the record's size. Also caches the values' strings. */
  #maxBytes(batch: Batch, r: number): number {
    let bytes = headBytes + 8 + this.#given.columns.length;
    for (let c = 0; c < batch.cells.length; c++) {
      const cells = batch.cells[c]!;
      if (cells.kind === 'bytes') {
        const span = 2 * (r * cells.stride + cells.slot);
        bytes += cellHeadBytes + cells.spans[span + 1]! - cells.spans[span]!;
        continue;
      }
      const text = valueText(cells.values[r] ?? null, batch.columns[c]!.type);
      this.#texts[c] = text;
      bytes += cellHeadBytes + 3 * (text?.length ?? 0);
    }
    for (const ordering of this.#key) bytes += orderedSize(batch, ordering, r);
    return this.#version === undefined ? bytes : bytes + orderedSize(batch, this.#version, r);
  }

  /** Whether a row is marked as a deletion. Null, an empty string, false and 0 aren't marks. */
  #isDeleted(batch: Batch, r: number): boolean {
    if (this.#deleted < 0) return false;
    const text = cellText(batch.cells[this.#deleted]!, batch.columns[this.#deleted]!.type, r);
    return text !== null && text !== '' && text !== 'false' && text !== '0';
  }

  #placed(column: string, work: () => number): number {
    try {
      return work();
    } catch (thrown) {
      throw thrown instanceof Problem ? thrown.at({ row: this.#rows + 1, column }) : thrown;
    }
  }

  #nullKey(column: string): Problem {
    return new Problem({
      code: 'SET_KEY_NULL',
      family: 'row',
      message: `Column ${JSON.stringify(column)} is part of the key, but is null in a row, so the row cannot be identified`,
      where: { row: this.#rows + 1, column },
      next: 'exclude such rows in the query, or set another key in write.key',
    });
  }

  #tooLong(bytes: number): Problem {
    return new Problem({
      code: 'SET_KEY_LONG',
      family: 'row',
      message: 'The key of a row is too long',
      where: { row: this.#rows + 1, column: this.#key.map(({ name }) => name).join(', ') },
      seen: `${bytes} bytes`,
      allowed: `${maxKeyBytes} bytes`,
      next: 'set a key with shorter values in write.key',
    });
  }
}

function noMark(deleted: string, come: readonly Column[]): RunWarning {
  return {
    code: 'SET_NO_DELETED',
    message: `No record has the column ${JSON.stringify(deleted)}, which is set in write.deleted, so no row counts as deleted`,
    seen: come.map(({ name }) => name).join(', '),
    next: "if only deleted records have it, no action is needed; otherwise, correct the name, or list the column in the query's `columns`",
  };
}

/** The Z of UTC. */
const utcMark = 0x5a;
const fewBytes = 24;

/** Copies bytes and returns the end of the copy. For so few bytes, a loop is faster than a native call. */
function copyBytes(
  bytes: Buffer,
  { start, end }: { start: number; end: number },
  { buffer, at }: { buffer: Buffer; at: number },
): number {
  if (end - start > fewBytes) return at + bytes.copy(buffer, at, start, end);
  for (let p = start; p < end; p++) buffer[at++] = bytes[p]!;
  return at;
}
