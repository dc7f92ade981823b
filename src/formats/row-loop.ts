import type { ByteCells } from '../sdk/batch.ts';
import type { CellWriter } from './cell-writer.ts';
import { mostGrowth, plain } from './cell-writer.ts';
import { copyClean } from './clean-copy.ts';
import { type Constant, put } from './constant.ts';
import { mostReserved, type Output } from './output.ts';
import type { ColumnFrame } from './row-encoder.ts';

/** The cells of one batch, all of them bytes by now. */
interface Source {
  readonly cells: readonly ByteCells[];
  /** Columns whose cells are numbered by visible row instead of stored row. */
  readonly staged: readonly boolean[];
  readonly rows: Int32Array | undefined;
}

/** Which visible rows to write, and the constants around them. */
interface Stretch {
  readonly frames: readonly ColumnFrame[];
  readonly lead: Constant;
  readonly tail: Constant;
  readonly from: number;
  readonly to: number;
}

/** Room for the quotes that a writer adds, and for constants that are copied by whole words. */
const slack = 32;

/** Copying in a loop beats a native call up to about this many bytes. */
const shortCopy = 64;

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * The one row loop of all formats. Everything is in local arrays and the output in local variables, because this loop
 * runs once per cell and property loads would cost more than the copying does.
 */
export function writeRows({ cells, staged, rows }: Source, out: Output, stretch: Stretch): void {
  const { frames, lead, tail, from, to } = stretch;
  const count = frames.length;
  const writers: CellWriter[] = frames.map((frame, c) => (staged[c] ? frame.valueWriter : frame.writer));
  const stops = writers.map((writer) => writer.stops);
  const plainly = writers.map((writer) => writer === plain);
  const befores = frames.map((frame) => frame.before);
  const afters = frames.map((frame) => frame.after);
  const absents = frames.map((frame) => frame.absent);
  const around = frames.map((frame) => frame.before.length + frame.after.length + slack);
  const sources = cells.map((column) => column.bytes);
  const views = sources.map(viewOf);
  const spans = cells.map((column) => column.spans);
  const strides = cells.map((column) => 2 * column.stride);
  const slots = cells.map((column) => 2 * column.slot);
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
      const span = spans[c]!;
      const at = (staged[c]! ? i : stored) * strides[c]! + slots[c]!;
      let start = span[at]!;
      if (start < 0) {
        const absent = absents[c]!;
        if (position + absent.length + slack > buffer.length) {
          out.position = position;
          out.bytes(absent.bytes);
          ({ buffer, position } = out);
          view = viewOf(buffer);
        } else position = put(view, position, absent);
        continue;
      }
      const end = span[at + 1]!;
      const room = (end - start) * mostGrowth + around[c]!;
      if (position + room > buffer.length) {
        out.position = position;
        if (room > mostReserved) {
          out.bytes(befores[c]!.bytes);
          writers[c]!.large(out, sources[c]!, start, end);
          out.bytes(afters[c]!.bytes);
          ({ buffer, position } = out);
          view = viewOf(buffer);
          continue;
        }
        out.reserve(room);
        ({ buffer, position } = out);
        view = viewOf(buffer);
      }
      position = put(view, position, befores[c]!);
      const source = sources[c]!;
      if (plainly[c]! && end - start <= shortCopy) {
        const words = views[c]!;
        for (; start + 4 <= end; start += 4, position += 4) view.setInt32(position, words.getInt32(start, true), true);
        while (start < end) buffer[position++] = source[start++]!;
      } else {
        const stop = stops[c];
        const clean = stop === undefined ? -1 : copyClean(view, position, views[c]!, start, end, stop);
        position = clean >= 0 ? clean : writers[c]!.small(buffer, position, source, start, end);
      }
      position = put(view, position, afters[c]!);
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
