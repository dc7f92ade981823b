import type { DiskSpace } from '../lib/disk-space.ts';
import { Problem } from '../lib/problem.ts';
import type { Column } from '../sdk/column.ts';
import { Arena } from './arena.ts';
import { Merge } from './merge.ts';
import { maxOrderedBytes, type OrderedBytes, orderedBytes } from './ordered-bytes.ts';
import { cellsAt, compareKeys, headBytes, type RecordRef, writeHead } from './record.ts';
import type { NewestRows, RowReader } from './row-reader.ts';
import { Sorter } from './sorter.ts';

/** Selects the last rows in reading order. */
class LastRows implements NewestRows {
  readonly at = -1;
  #tooMany: number;

  constructor(tooMany: number) {
    this.#tooMany = tooMany;
  }

  has(): boolean {
    this.#tooMany -= 1;
    return this.#tooMany < 0;
  }
}

/** Selects the rows that aren't below a given row. Rows are ordered by a column, then by key. */
class HighestRows implements NewestRows {
  readonly at: number;
  readonly #rank: Ranking;
  readonly #lowest: RecordRef;

  constructor(at: number, { rank, lowest }: { rank: Ranking; lowest: RecordRef }) {
    this.at = at;
    this.#rank = rank;
    this.#lowest = lowest;
  }

  has(spot: RecordRef, text: string | undefined): boolean {
    return compareKeys(this.#rank.of(spot, text), this.#lowest) >= 0;
  }
}

/** Writes records whose key is a column's value followed by the row's key. */
class Ranking {
  readonly #write: OrderedBytes;
  readonly #arena: Arena;

  constructor(write: OrderedBytes, arena: Arena = new Arena()) {
    this.#write = write;
    this.#arena = arena;
  }

  add(spot: RecordRef, text: string | undefined): RecordRef {
    const { buffer, start } = spot;
    const end = cellsAt(buffer, start);
    const arena = this.#arena;
    arena.reserve(headBytes + 1 + maxOrderedBytes(text ?? '') + end - start);
    const begin = arena.used;
    let at = begin + headBytes;
    arena.buffer[at++] = text === undefined ? 0 : 1;
    if (text !== undefined) at = this.#write(text, arena.buffer, at);
    at += buffer.copy(arena.buffer, at, start + headBytes, end);
    const size = at - begin;
    writeHead(arena.buffer, begin, { size, key: size - headBytes, version: 0, isDeletion: false });
    arena.added(size);
    return { buffer: arena.buffer, start: begin };
  }

  /** A row's ranking record, which is valid until the next call. */
  of(spot: RecordRef, text: string | undefined): RecordRef {
    this.#arena.clear();
    return this.add(spot, text);
  }
}

interface Sorting {
  readonly rows: number;
  /** Folder and disk budget for temporary files. */
  readonly folder: string;
  readonly room: DiskSpace | undefined;
}

/**
 * Reads all rows to find the newest ones. Returns a filter for a second read, which must return the rows in the same
 * order; undefined if there are no more rows than the limit. Closes `merge`.
 */
export async function findNewest(
  reader: RowReader,
  { column, merge, ...sorting }: { column?: string; merge: Merge } & Sorting,
): Promise<NewestRows | undefined> {
  const at = column === undefined ? -1 : reader.columns.findIndex(({ name }) => name === column);
  try {
    return at < 0 ? await countRows(reader, sorting.rows) : await rankRows(reader, { at, ...sorting });
  } finally {
    await merge.close();
  }
}

async function countRows(reader: RowReader, rows: number): Promise<NewestRows | undefined> {
  while ((await reader.next()) !== undefined);
  return reader.rows <= rows ? undefined : new LastRows(reader.rows - rows);
}

async function rankRows(
  reader: RowReader,
  { at, rows, folder, room }: { at: number } & Sorting,
): Promise<NewestRows | undefined> {
  const write = writerFor(reader.columns[at]!);
  const sorter = new Sorter(folder, { room, name: 'rank' });
  const ranking = new Ranking(write, sorter.arena);
  try {
    for (let batch = await reader.next(noteRow); batch !== undefined; batch = await reader.next(noteRow));
    const lowest = await recordAt(new Merge(sorter.sources(0)), reader.rows - rows);
    return lowest && new HighestRows(at, { rank: new Ranking(write), lowest });
  } finally {
    await sorter.close();
  }

  function noteRow(spot: RecordRef): Promise<void> | undefined {
    ranking.add(spot, reader.textOf(at));
    return sorter.spill();
  }
}

/** A copy of the record at that index; undefined if the index is negative. */
async function recordAt(merge: Merge, place: number): Promise<RecordRef | undefined> {
  try {
    for (let left = place; left >= 0; ) {
      const source = merge.next();
      if (source === 'end') break;
      if (source === 'wait') await merge.fill();
      else if (left-- === 0) {
        return {
          buffer: Buffer.from(source.buffer.subarray(source.start, cellsAt(source.buffer, source.start))),
          start: 0,
        };
      }
    }
    return undefined;
  } finally {
    await merge.close();
  }
}

function writerFor({ name, type }: Column): OrderedBytes {
  const write = orderedBytes(type);
  if (write !== undefined) return write;
  throw new Problem({
    code: 'SET_AGE_TYPE',
    family: 'config',
    message: `retain cannot find the newest rows by column ${JSON.stringify(name)}, because its type is ${type}`,
    where: { column: name },
    seen: type,
    allowed: 'a column with dates, times, whole or decimal numbers, or text',
    next: 'set another column in write.retain',
  });
}
