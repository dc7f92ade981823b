import { createHash } from 'node:crypto';
import type { Row } from '../formats/payload-table.ts';
import { Merge } from '../kept-rows/merge.ts';
import { maxOrderedBytes, orderedBytes } from '../kept-rows/ordered-bytes.ts';
import {
  cellHeadBytes,
  cellsAt,
  findCells,
  headBytes,
  type RecordRef,
  sizeAt,
  writeCellHead,
  writeHead,
} from '../kept-rows/record.ts';
import { Sorter } from '../kept-rows/sorter.ts';

/** The table that a row belongs to. The last payload's rows sort first. */
export type Side = 'last' | 'now';

/** How rows are matched. */
export interface RowKey {
  /** Indexes of the key columns. If there are none, the key is the whole row: the first `width` cells. */
  readonly at: readonly number[];
  /** Number of leading columns that both tables have. */
  readonly width: number;
  /** Returns whether the column at this index contains only numbers and is therefore sorted numerically. */
  readonly isNumeric: (at: number) => boolean;
}

/**
 * Size in bytes of the key's suffix: the table and the row's index. The suffix ensures that no two records have the
 * same key.
 */
const suffixBytes = 7;
const hashBytes = 32;
/** A longer key is replaced by its hash. */
const maxKeyBytes = 4096;

const textBytes = orderedBytes('text')!;
const numberBytes = orderedBytes('decimal')!;

/** The rows of two tables in key order. Rows are sorted in memory or, if there are too many, in files in `folder`. */
export class SortedRows {
  readonly #key: RowKey;
  readonly #sorter: Sorter;
  #added = 0;

  /** `maxBytes` is the maximum size of the rows that are sorted in memory at a time. Default: 16 MB. */
  constructor(key: RowKey, { folder, maxBytes }: { readonly folder: string; readonly maxBytes?: number | undefined }) {
    this.#key = key;
    this.#sorter = new Sorter(folder, maxBytes === undefined ? {} : { maxBytes });
  }

  /**
   * Adds a row whose first `width` cells belong to columns that both tables have. If the method returns a promise,
   * await it before the next call.
   */
  add(side: Side, row: Row): Promise<void> | undefined {
    const arena = this.#sorter.arena;
    const keyed = this.#key.at.length > 0;
    // UTF-8 encodes each UTF-16 code unit in at most three bytes.
    const cellBytes = row.reduce((all, cell) => all + cellHeadBytes + 3 * (cell?.length ?? 0), 0);
    const keyBytes = this.#key.at.reduce((all, c) => all + 1 + maxOrderedBytes(row[c] ?? ''), hashBytes);
    arena.reserve(headBytes + keyBytes + suffixBytes + cellBytes);
    const { buffer, used: start } = arena;
    const keyStart = start + headBytes;
    let keyEnd = keyed ? this.#writeKey(row, buffer, keyStart) : keyStart + hashBytes;
    const cells = keyEnd + suffixBytes;
    const { end, commonEnd } = writeCells(row, { buffer, at: cells, width: this.#key.width });
    const isNow = side === 'last' ? 0 : 1;
    // If the tables have no column in common, no rows match.
    const known = this.#key.width === 0 ? Buffer.of(isNow) : buffer.subarray(cells, commonEnd);
    if (!keyed) keyEnd = writeHash(buffer, keyStart, known);
    buffer[keyEnd] = isNow;
    buffer.writeUIntBE(this.#added++, keyEnd + 1, 6);
    const size = end - start;
    writeHead(buffer, start, { size, key: cells - keyStart, version: 0, isDeletion: false });
    arena.added(size);
    return this.#sorter.spill();
  }

  /**
   * Yields all rows in key order, so rows with the same key are consecutive. A row is valid only until the next one is
   * requested.
   */
  async *inOrder(): AsyncGenerator<SortedRow> {
    const merge = new Merge(this.#sorter.sources(0));
    try {
      for (;;) {
        const source = merge.next();
        if (source === 'end') return;
        if (source === 'wait') await merge.fill();
        else yield new SortedRow(source);
      }
    } finally {
      await merge.close();
    }
  }

  async close(): Promise<void> {
    await this.#sorter.close();
  }

  #writeKey(row: Row, buffer: Buffer, from: number): number {
    let at = from;
    for (const c of this.#key.at) {
      const text = row[c]!;
      buffer[at++] = text === null ? 0 : 1;
      if (text !== null) at = (this.#key.isNumeric(c) ? numberBytes : textBytes)(text, buffer, at);
    }
    return at - from <= maxKeyBytes ? at : writeHash(buffer, from, buffer.subarray(from, at));
  }
}

/** A sorted row. */
export class SortedRow {
  readonly #spot: RecordRef;

  constructor(spot: RecordRef) {
    this.#spot = spot;
  }

  get side(): Side {
    return this.#spot.buffer[cellsAt(this.#spot.buffer, this.#spot.start) - suffixBytes] === 0 ? 'last' : 'now';
  }

  /** Returns a copy of the row that stays valid after the next row is requested. */
  copy(): SortedRow {
    const { buffer, start } = this.#spot;
    return new SortedRow({ buffer: Buffer.from(buffer.subarray(start, start + sizeAt(buffer, start))), start: 0 });
  }

  hasKeyOf(other: SortedRow): boolean {
    return this.#key().equals(other.#key());
  }

  hasCellsOf(other: SortedRow): boolean {
    return this.#cells().equals(other.#cells());
  }

  /** Returns the row's first `width` cells. */
  texts(width: number): Row {
    const spans = new Int32Array(2 * width);
    findCells(this.#spot, { spans, at: 0, width, origin: 0 });
    return Array.from({ length: width }, (_, c) => {
      const start = spans[2 * c]!;
      return start < 0 ? null : this.#spot.buffer.toString('utf8', start, spans[2 * c + 1]!);
    });
  }

  #key(): Buffer {
    const { buffer, start } = this.#spot;
    return buffer.subarray(start + headBytes, cellsAt(buffer, start) - suffixBytes);
  }

  #cells(): Buffer {
    const { buffer, start } = this.#spot;
    return buffer.subarray(cellsAt(buffer, start), start + sizeAt(buffer, start));
  }
}

function writeCells(
  row: Row,
  { buffer, at, width }: { readonly buffer: Buffer; readonly at: number; readonly width: number },
): { end: number; commonEnd: number } {
  let end = at;
  let commonEnd = at;
  for (const [c, text] of row.entries()) {
    if (text === null) buffer[end++] = 0;
    else {
      end = writeCellHead(buffer, end, Buffer.byteLength(text));
      end += buffer.write(text, end, 'utf8');
    }
    if (c < width) commonEnd = end;
  }
  return { end, commonEnd };
}

function writeHash(buffer: Buffer, at: number, bytes: Buffer): number {
  return at + createHash('sha256').update(bytes).digest().copy(buffer, at);
}
