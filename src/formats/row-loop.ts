import type { ByteCells } from '../sdk/batch.ts';
import { type CellWriter, maxGrowth, plain } from './cell-writer.ts';
import { type Constant, put } from './constant.ts';
import { copyUnescaped, type EscapeSet } from './copy-unescaped.ts';
import { maxReservedBytes, type Output } from './output.ts';
import type { TextCheck } from './value-buffer.ts';

/** The cells of one batch, all as bytes. */
interface Source {
  readonly cells: readonly ByteCells[];
  /** For each column, whether its cells are indexed by visible row instead of stored row. */
  readonly staged: readonly boolean[];
  readonly rows: Int32Array | undefined;
}

/** The visible rows to write. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The constants around rows. */
interface RowLoopOptions {
  readonly lead: Constant;
  readonly tail: Constant;
}

/** Space for the quotes that a writer adds, and for constants copied in whole words. */
const slack = 32;

/** Up to about this many bytes, a copy loop is faster than a native call. */
const shortCopy = 64;

const nothing = Buffer.alloc(0);
const noSpans = new Int32Array(0);
const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** The loop's data for one column; refilled for each batch. */
class LoopColumn {
  readonly frame: ColumnFrame;
  readonly before: Constant;
  readonly after: Constant;
  readonly absent: Constant;
  /** Maximum number of bytes that are written around the cell. */
  readonly around: number;
  writer: CellWriter = plain;
  stops: EscapeSet | undefined = undefined;
  isPlain = true;
  isStaged = false;
  bytes: Buffer = nothing;
  view: DataView = viewOf(nothing);
  spans: Int32Array = noSpans;
  stride = 0;
  slot = 0;

  constructor(frame: ColumnFrame) {
    this.frame = frame;
    this.before = frame.before;
    this.after = frame.after;
    this.absent = frame.absent;
    this.around = frame.before.length + frame.after.length + slack;
  }

  fill(cells: ByteCells, isStaged: boolean): void {
    if (this.bytes !== cells.bytes) this.view = viewOf(cells.bytes);
    this.bytes = cells.bytes;
    this.spans = cells.spans;
    this.stride = 2 * cells.stride;
    this.slot = 2 * cells.slot;
    this.isStaged = isStaged;
    this.writer = isStaged ? this.frame.valueWriter : this.frame.writer;
    this.stops = this.writer.stops;
    this.isPlain = this.writer === plain;
  }
}

/**
 * The row loop of all formats. Its column objects are created once, in one place, because V8 optimizes the loop for the
 * object shapes it has seen. Recompiling the loop for each batch's shapes would add a fifth of a second to a short run.
 */
export class RowLoop {
  readonly #around: RowLoopOptions;
  readonly #columns: LoopColumn[] = [];

  constructor(frames: readonly ColumnFrame[], around: RowLoopOptions) {
    this.#around = around;
    for (const frame of frames) this.#columns.push(new LoopColumn(frame));
  }

  /** Writes some rows of a batch. */
  write({ cells, staged, rows }: Source, out: Output, { from, to }: Stretch): void {
    for (let c = 0; c < cells.length; c++) this.#columns[c]!.fill(cells[c]!, staged[c]!);
    writeRows(this.#columns, { lead: this.#around.lead, tail: this.#around.tail, rows, from, to }, out);
  }
}

/** Writes rows. Keeps the output's fields in local variables, because this loop runs once per cell. */
function writeRows(
  columns: readonly LoopColumn[],
  stretch: RowLoopOptions & Stretch & Pick<Source, 'rows'>,
  out: Output,
): void {
  const { lead, tail, rows, from, to } = stretch;
  const count = columns.length;
  const perRow = lead.length + tail.length + slack;
  let { buffer, position } = out;
  let view = viewOf(buffer);

  for (let i = from; i < to; i++) {
    if (position + perRow > buffer.length) {
      out.position = position;
      out.reserve(perRow);
      ({ buffer, position } = out);
      view = viewOf(buffer);
    }
    position = put(view, position, lead);
    const stored = rows === undefined ? i : rows[i]!;
    for (let c = 0; c < count; c++) {
      const column = columns[c]!;
      const { spans } = column;
      const at = (column.isStaged ? i : stored) * column.stride + column.slot;
      let start = spans[at]!;
      if (start < 0) {
        const { absent } = column;
        if (position + absent.length + slack > buffer.length) {
          out.position = position;
          out.bytes(absent.bytes);
          ({ buffer, position } = out);
          view = viewOf(buffer);
        } else position = put(view, position, absent);
        continue;
      }
      const end = spans[at + 1]!;
      const room = (end - start) * maxGrowth + column.around;
      if (position + room > buffer.length) {
        out.position = position;
        if (room > maxReservedBytes) {
          out.bytes(column.before.bytes);
          column.writer.large(out, column.bytes, start, end);
          out.bytes(column.after.bytes);
          ({ buffer, position } = out);
          view = viewOf(buffer);
          continue;
        }
        out.reserve(room);
        ({ buffer, position } = out);
        view = viewOf(buffer);
      }
      position = put(view, position, column.before);
      if (column.isPlain && end - start <= shortCopy) {
        const { bytes, view: words } = column;
        for (; start + 4 <= end; start += 4, position += 4) view.setInt32(position, words.getInt32(start, true), true);
        while (start < end) buffer[position++] = bytes[start++]!;
      } else {
        const { stops } = column;
        const clean = stops === undefined ? -1 : copyUnescaped(view, position, column.view, start, end, stops);
        position = clean >= 0 ? clean : column.writer.small(buffer, position, column.bytes, start, end);
      }
      position = put(view, position, column.after);
    }
    if (position + tail.length + slack > buffer.length) {
      out.position = position;
      out.reserve(tail.length + slack);
      ({ buffer, position } = out);
      view = viewOf(buffer);
    }
    position = put(view, position, tail);
  }
  out.position = position;
}

/** The constants around one column's cells, and the cell writer. */
export interface ColumnFrame {
  readonly before: Constant;
  readonly after: Constant;
  /** Replaces `before`, the cell and `after` if the cell is null. */
  readonly absent: Constant;
  /** The writer for byte cells. The source guarantees that they contain canonical text of the column's type. */
  readonly writer: CellWriter;
  /** The writer for value cells, whose text hasn't been verified. */
  readonly valueWriter: CellWriter;
  /** Validates the text of a value. */
  readonly check?: TextCheck;
}
